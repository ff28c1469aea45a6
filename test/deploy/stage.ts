import { readFileSync } from "node:fs";
import { Agent } from "node:https";
import { join } from "node:path";
import { z } from "zod";
import type { Cdk } from "./cdk.ts";
import { credentials, type Emulator, region } from "./emulator.ts";

const Outputs = z.object({
  ApiUrl: z.url(),
  RunsTableName: z.string(),
  LedgerTableName: z.string(),
  PayloadsBucketName: z.string(),
  KeptAfterDestroy: z.string(),
});
/** What a deployed stack gave out. */
export type Outputs = z.infer<typeof Outputs>;

export interface StageSettings {
  readonly stage: string;
  /** For the agent's step function. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The command line of the shipped app for a stage: settings, and what the emulator lacks. */
export const flagsOf = (emulator: Emulator, { stage, environment }: StageSettings): readonly string[] => [
  ...["--output", join(emulator.folder, `cdk.out-${stage}`)],
  ...["-c", `surefoot:stage=${stage}`],
  ...["-c", `surefoot:environment=${JSON.stringify(environment)}`],
  // It has no versions and aliases of state machines.
  ...["-c", "surefoot:stateMachineVersions=false"],
  // Changes no template and takes most of a synthesis; `npm run synth` checks it.
  ...["-c", "@aws-cdk/core:validateAgainstDefaultRules=false"],
];

/** `cdk deploy` from sources to a running stage. */
export async function deploy(cdk: Cdk, emulator: Emulator, settings: StageSettings): Promise<Outputs> {
  const file = join(emulator.folder, `outputs-${settings.stage}.json`);
  await cdk.succeed(["deploy", "--require-approval", "never", "--outputs-file", file, ...flagsOf(emulator, settings)]);
  return z.record(z.string(), Outputs).parse(JSON.parse(readFileSync(file, "utf8")))[`surefoot-${settings.stage}`]!;
}

/** For any client of the SDK. */
export const sdkSettings = (emulator: Emulator) => ({
  endpoint: emulator.endpoint,
  region,
  credentials,
  requestHandler: { httpsAgent: new Agent({ ca: emulator.certificate.pem }) },
});
