import { existsSync, mkdirSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { resolve } from "node:path";
import { startLocalRunner } from "../local/local-runner.ts";
import { type Environment, envNames, readApprovers } from "../../lambdas/env.ts";
import type { Notice } from "../../shared/notify/notice.ts";
import { linkMeaning, noticeSubject } from "../../shared/notify/notice-text.ts";
import { agentEnvironment, startRefundWorld } from "../local/refund-world.ts";
import { agentError } from "./agent-error.ts";
import { CliError } from "./cli-error.ts";
import type { Output } from "./output.ts";
import { readRunnerFile, removeRunnerFile, type RunnerFile, writeRunnerFile } from "./runner-file.ts";
import { refundAgentModule } from "./shipped-agent.ts";

/** A runner on this machine that says nothing for this long is none. */
const answerMsMax = 2_000;

export interface ServeOptions {
  readonly port: number;
  /** Empty: the shipped refund agent, with a payments, a mail and a model server beside it. */
  readonly agentModules: readonly string[];
  readonly folder: string;
  readonly output: Output;
}

/** Runs until SIGINT or SIGTERM. Killed in any other way, the next start goes on from the log. */
export async function serve({ port, agentModules, folder, output }: ServeOptions): Promise<void> {
  const missing = agentModules.find((module) => !existsSync(module) || !statSync(module).isFile());
  if (missing !== undefined) {
    throw new CliError(2, "no_module", `--agent names ${missing}, which is no file: pass a .ts or .js module`);
  }
  await checkPort(port);
  await checkFolder(folder);

  const shipped = agentModules.length === 0;
  output.progress(`starting in ${folder} …`);
  const world = shipped ? await startRefundWorld(folder) : undefined;
  const environment = agentEnvironment(world?.environment ?? {}, process.env);
  const modules = shipped ? [refundAgentModule()] : agentModules.map((module) => resolve(module));
  const runner = await startLocalRunner({
    folder,
    port,
    agents: modules.map((modulePath) => ({ modulePath, environment })),
    approvers: approversOf(process.env),
    ...webhookOf(process.env),
    onNotice: (notice) => output.progress(sayNotice(notice)),
    onLine: (line) => output.progress(line),
  }).catch(async (error: unknown) => {
    await world?.stop();
    throw readable(error, port);
  });
  writeRunnerFile(folder, { url: runner.url, pid: process.pid });
  for (const runId of runner.resumed) output.progress(`went on with ${runId}`);
  const where = world && { payments: world.payments.url, mail: world.mail.url, model: world.model.url };
  output.result({ url: runner.url, pid: process.pid, resumed: runner.resumed, ...where }, () =>
    [
      `ready at ${runner.url}`,
      ...(where ? [`the other side: payments ${where.payments}, mail ${where.mail}, model ${where.model}`] : []),
      ...(shipped
        ? [
            `try: npx surefoot start refund-agent --workflow-id T-1 --input '{"orderId":"ORD-DEMO-2","paymentId":"pi_demo_2","requestedAmountCents":6000,"customerEmail":"customer@example.com","message":"It broke."}'`,
          ]
        : []),
    ].join("\n"),
  );
  await new Promise<void>((done) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => done());
  });
  output.progress("stopping …");
  removeRunnerFile(folder);
  await runner.stop();
  await world?.stop();
}

/** On one's own machine there is one approver: whoever runs it. */
function approversOf(env: Environment): Readonly<Record<string, string>> {
  const named = readApprovers(env);
  if (named.size > 0) return Object.fromEntries([...named].map(([name, roles]) => [name, roles.join(",")]));
  return env["USER"] ? { [env["USER"]]: "" } : {};
}

function webhookOf(env: Environment) {
  const [url, approver] = [env[envNames.webhookUrl], env[envNames.webhookApprover]];
  return url ? { webhook: { url, ...(approver ? { approver } : {}) } } : {};
}

/** For a terminal, where a link can be clicked. */
const sayNotice = (notice: Notice): string =>
  [`${noticeSubject(notice)}: ${notice.title}`, `  ${linkMeaning(notice)}:`, `  ${notice.link}`].join("\n");

/** Asked before anything starts: the API listens last, and starting takes a while. */
async function checkPort(port: number): Promise<void> {
  const probe = createServer();
  await new Promise<void>((free, taken) => {
    probe.once("error", taken).listen(port, "127.0.0.1", () => probe.close(() => free()));
  }).catch((error: unknown) => {
    throw readable(error, port);
  });
}

/** Also asked first: the servers beside the agent must not open the files of a runner that lives. */
async function checkFolder(folder: string): Promise<void> {
  const other = readRunnerFile(folder);
  if (other && (await isServing(other))) {
    throw new CliError(
      1,
      "folder_in_use",
      `${folder} is in use by the runner at ${other.url} (process ${other.pid}): use that one, stop it, or choose another --folder`,
    );
  }
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError(2, "bad_folder", `--folder ${folder} cannot be used (${why}): choose another`);
  }
}

/** Both, since a killed runner's process id and port may each belong to somebody else by now. */
async function isServing({ url, pid }: RunnerFile): Promise<boolean> {
  try {
    process.kill(pid, 0);
    await fetch(url, { signal: AbortSignal.timeout(answerMsMax) });
    return true;
  } catch {
    return false;
  }
}

/** A wrong agent is the caller's to mend; a taken port or folder is a try that failed. */
function readable(error: unknown, port: number): unknown {
  if (!(error instanceof Error)) return error;
  const { code } = error as NodeJS.ErrnoException;
  const another = "choose another with --port, or 0 for a free one";
  if (code === "EADDRINUSE") return new CliError(1, "port_taken", `port ${port} is taken: ${another}`);
  if (code === "EACCES") return new CliError(1, "port_denied", `port ${port} may not be used: ${another}`);
  return agentError(error) ?? error;
}
