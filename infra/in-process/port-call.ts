/** What is called. `dynamo`, `sfn`, `lambda` and `queue` are the AWS clients' sends; `tool` is the agent's own code that reaches outside. */
export type PortName = "dynamo" | "sfn" | "lambda" | "queue" | "payloads" | "tool" | "model";

/** One call of a port, before anything came of it. */
export interface PortCall {
  readonly port: PortName;
  /** As the port names it: `Put`, `SendTaskSuccess`, `Invoke`, `execute`, `lookup`, … */
  readonly verb: string;
  /** What it is about: table and key, function, tool and operation id. Never a payload. */
  readonly ids: Readonly<Record<string, string>>;
}

/** A call whose turn has come: the `n`-th of its world. */
export interface AdmittedCall extends PortCall {
  /** 1 for the first. */
  readonly n: number;
  /** Who calls: `step-refund-agent#3` for the third invocation of that function, `states …`, `schedule`, `queue`. */
  readonly actor: string;
  /** False for the state machine, the queue and the schedule: they neither die nor have a clock of their own. */
  readonly hasProcess: boolean;
}

/** Describes calls: every member that is given must be the same. An `actor` without `#` is every invocation of that function. */
export interface CallPattern {
  readonly actor?: string;
  readonly port?: PortName;
  readonly verb?: string;
  readonly ids?: Readonly<Record<string, string>>;
}

export function matches(pattern: CallPattern, call: AdmittedCall): boolean {
  const { actor, port, verb, ids = {} } = pattern;
  const sameActor = actor === undefined || actor === call.actor || call.actor.startsWith(`${actor}#`);
  const samePort = port === undefined || port === call.port;
  const sameVerb = verb === undefined || verb === call.verb;
  return sameActor && samePort && sameVerb && Object.entries(ids).every(([name, id]) => call.ids[name] === id);
}
