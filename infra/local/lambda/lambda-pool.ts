import { functionKey, parseFunctionName } from "./function-name.ts";
import type { LambdaDefinition } from "./lambda-definition.ts";
import { refused, type InvokeResult } from "./lambda-failure.ts";
import { LambdaFunction } from "./lambda-function.ts";
import { payloadBytesMax } from "./lambda-protocol.ts";
import { openLogFiles } from "./log-lines.ts";

/** About 50 MB each, and no laptop runs more than ten well. Whoever finds all busy waits its turn. */
const concurrencyMaxDefault = 10;

export interface LambdaPoolOptions {
  /** Gets `<name>.log` for each function. @default no files */
  readonly logsDir?: string;
  /** Every line a function prints. @default nobody */
  readonly onLog?: (name: string, line: string) => void;
  /** Tells the instant from which a deadline is counted. The children read the machine's clock. @default Date.now */
  readonly now?: () => number;
  /** Processes per function. @default 10 */
  readonly concurrencyMax?: number;
}

export interface LambdaPool {
  /** Makes `name` invocable, and replaces an earlier registration: what runs finishes with the old bundle, what comes gets the new one. */
  register(definition: LambdaDefinition): void;
  /** Runs a function as Lambda would. @param name a name or an ARN, qualified or not. Never rejects: whatever goes wrong is an `error`. */
  invoke(name: string, payload: unknown): Promise<InvokeResult>;
  processes(name: string): { pid: number; busy: boolean }[];
  /** Ends all processes. Stop the callers first: to them this looks like a crash of their function. */
  stop(): Promise<void>;
}

export function createLambdaPool(options: LambdaPoolOptions = {}): LambdaPool {
  const { now = Date.now, concurrencyMax = concurrencyMaxDefault, onLog } = options;
  const logs = options.logsDir === undefined ? undefined : openLogFiles(options.logsDir);
  const functions = new Map<string, LambdaFunction>();
  const replaced: LambdaFunction[] = [];
  let stopped = false;

  /** A version is found under its own name; where no versions are registered, the one function answers for all of them. */
  const find = (text: string) => {
    const reference = parseFunctionName(text);
    const exact = functions.get(functionKey(reference));
    const versioned = [...functions.keys()].some((key) => key.startsWith(`${reference.name}:`));
    return exact ?? (versioned ? undefined : functions.get(reference.name));
  };

  return {
    register: (definition) => {
      const reference = parseFunctionName(definition.name);
      const key = functionKey(reference);
      const earlier = functions.get(key);
      earlier?.retire();
      if (earlier) replaced.push(earlier);
      const onLine = (line: string) => {
        logs?.write(key, line);
        onLog?.(key, line);
      };
      functions.set(key, new LambdaFunction(definition, reference, { now, onLine }, concurrencyMax));
    },

    invoke: async (name, payload) => {
      if (stopped) return refused("ServiceException", "The local Lambda runtime was stopped.");
      const lambda = find(name);
      if (!lambda) {
        return refused(
          "ResourceNotFoundException",
          `Function not found: ${name}; registered are: ${[...functions.keys()].join(", ") || "none"}`,
        );
      }
      const event = toJson(payload);
      if (event === undefined) {
        return refused(
          "InvalidRequestContentException",
          "Could not parse request body into json: the payload has no JSON form.",
        );
      }
      if (Buffer.byteLength(event) > payloadBytesMax) {
        return refused(
          "RequestTooLargeException",
          `Request must be smaller than ${payloadBytesMax} bytes for the InvokeFunction operation`,
        );
      }
      return lambda.invoke(event);
    },

    processes: (name) => find(name)?.processes() ?? [],

    stop: async () => {
      stopped = true;
      await Promise.all([...functions.values(), ...replaced].map((lambda) => lambda.stop()));
      logs?.close();
    },
  };
}

/** An absent payload is an empty event, as on Lambda. */
function toJson(payload: unknown): string | undefined {
  try {
    return payload === undefined ? "{}" : JSON.stringify(payload);
  } catch {
    return undefined;
  }
}
