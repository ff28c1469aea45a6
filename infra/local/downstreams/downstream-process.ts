import { firstMessage, forkModule, siblingModule } from "../child-process.ts";
import { controlClient, type ControlClient } from "./control-client.ts";
import { ReadyMessage } from "./downstream-program.ts";

export type DownstreamKind = "payments" | "mail" | "model";

export interface DownstreamOptions {
  /** Port of the protocol and control routes (of the control routes alone for mail). @default a free one */
  readonly port?: number;
  /** Mail only. @default a free one */
  readonly smtpPort?: number;
  /** Payments and mail: JSON lines that outlive the process. @default nothing is kept */
  readonly dataFile?: string;
  /** Payments only. @default 24 hours */
  readonly keyWindowMs?: number;
  /** Model only: absolute path of a module whose default export is a `ModelScript`. @default the refund agent's script */
  readonly script?: string;
  readonly onOutput?: (text: string, stream: "stdout" | "stderr") => void;
}

export interface DownstreamProcess {
  readonly kind: DownstreamKind;
  readonly url: string;
  readonly smtp?: { readonly host: string; readonly port: number };
  readonly pid: number;
  readonly control: ControlClient;
  /** Settles when the process is gone, however it went. */
  readonly exited: Promise<unknown>;
  stop(): Promise<void>;
  kill9(): Promise<void>;
}

/** Starts one downstream as its own process, which ends with this one. Resolves once it accepts connections.
 *  @throws Error with the child's last output when it does not come up. */
export async function startDownstream(
  kind: DownstreamKind,
  options: DownstreamOptions = {},
): Promise<DownstreamProcess> {
  const forked = forkModule(siblingModule(import.meta.url, `${kind}-server`), {
    args: argumentsOf(options),
    imports: options.script === undefined ? [] : [options.script],
    ...(options.onOutput === undefined ? {} : { onOutput: options.onOutput }),
  });
  const { url, smtp } = await firstMessage(forked, (message) => ReadyMessage.safeParse(message).data);
  return {
    kind,
    url,
    ...(smtp === undefined ? {} : { smtp }),
    pid: forked.pid,
    control: controlClient(url),
    exited: forked.exited,
    stop: () => forked.stop(),
    kill9: () => forked.kill9(),
  };
}

function argumentsOf(options: DownstreamOptions): string[] {
  const flags: readonly (readonly [string, string | number | undefined])[] = [
    ["--port", options.port],
    ["--smtp-port", options.smtpPort],
    ["--data", options.dataFile],
    ["--key-window-ms", options.keyWindowMs],
    ["--script", options.script],
  ];
  return flags.flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)]));
}
