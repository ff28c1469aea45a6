import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { afterAll } from "vitest";
import { AgentStack, type AgentStackProps, type DeployedAgent } from "../../infra/index.ts";
import refundAgent from "../../lambdas/agents/refund-agent/agent.ts";

const repository = join(import.meta.dirname, "../..");
const { context: cdkContext } = JSON.parse(readFileSync(join(repository, "cdk.json"), "utf8"));

/** CDK writes every synthesis to disk and leaves it there. */
const scratch = mkdtempSync(join(tmpdir(), "surefoot-synth-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** The first synthesis of a process loads all of CDK: a second or two, and many on a busy machine. */
export const synthesisMsMax = 120_000;

export const refund: DeployedAgent = {
  agent: refundAgent,
  modulePath: join(repository, "lambdas/agents/refund-agent/agent.ts"),
};

export interface SynthesisOptions extends Partial<AgentStackProps> {
  readonly context?: Readonly<Record<string, unknown>>;
  /** Bundling takes seconds and only tests of the bundles need it. Default false. */
  readonly bundle?: boolean;
}

/** The stack under the feature flags of `cdk.json`. */
export function agentStack({ context, bundle = false, ...props }: SynthesisOptions = {}): AgentStack {
  const noBundles = bundle ? {} : { "aws:cdk:bundling-stacks": [] };
  const settings = {
    "aws:cdk:enable-path-metadata": true,
    // CDK's own rules take most of a synthesis. `npm run synth` runs them.
    "@aws-cdk/core:validateAgainstDefaultRules": false,
  };
  const app = new App({
    outdir: mkdtempSync(join(scratch, "out-")),
    context: { ...cdkContext, ...settings, ...noBundles, ...context },
  });
  return new AgentStack(app, "TestStack", { stage: "dev", agents: [refund], ...props });
}

export interface Resource {
  readonly id: string;
  /** Of the construct, without the stack's name: `Store/Runs/Table`. */
  readonly path: string;
  readonly Type: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a template is JSON that every expectation checks itself
  readonly Properties: any;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

/** Every resource of the template, by its logical id. */
export function resourcesOf(stack: AgentStack): ReadonlyMap<string, Resource> {
  const { Resources } = Template.fromStack(stack).toJSON();
  return new Map(
    Object.entries(Resources as Record<string, Resource & { Metadata?: Record<string, string> }>).map(
      ([id, { Metadata, ...resource }]) => {
        const [, ...path] = (Metadata?.["aws:cdk:path"] ?? "").split("/");
        return [id, { ...resource, id, path: path.join("/").replace(/\/Resource$/u, "") }];
      },
    ),
  );
}

export const ofType = (resources: ReadonlyMap<string, Resource>, type: string): readonly Resource[] =>
  [...resources.values()].filter((resource) => resource.Type === type);

/** A value of the template as text: references become the paths of what they name, pseudo parameters `{Region}`. */
export function asText(value: unknown, resources: ReadonlyMap<string, Resource>): string {
  if (typeof value === "string") return value;
  const { Ref, ["Fn::GetAtt"]: attribute, ["Fn::Join"]: joined } = value as Record<string, never>;
  if (Ref !== undefined) return resources.get(Ref)?.path ?? `{${String(Ref).replace("AWS::", "")}}`;
  if (attribute !== undefined) return resources.get(attribute[0])?.path ?? "?";
  if (joined !== undefined) return (joined[1] as unknown[]).map((part) => asText(part, resources)).join("");
  throw new Error(`expected text, Ref, Fn::GetAtt or Fn::Join, found ${JSON.stringify(value)}`);
}
