import type { Node } from "constructs";

/** Every context key the stack reads: `-c surefoot:stage=prod`, or `context` in `cdk.json`. */
export const contextKeys = {
  /** Names the stack; two stages in one account share nothing. Default `dev`. */
  stage: "surefoot:stage",
  /** `iam` (default), `jwt`, or `none-local-only`. */
  auth: "surefoot:auth",
  /** With `jwt`: the identity provider's issuer, `https://…`. */
  jwtIssuer: "surefoot:jwtIssuer",
  /** With `jwt`: the audiences (client ids) whose tokens count, separated by commas. */
  jwtAudience: "surefoot:jwtAudience",
  /** The address people reach the API at, where a domain or a proxy of your own stands before it. Default API Gateway's own. */
  publicUrl: "surefoot:publicUrl",
  /** JSON `{ [name]: roles, separated by commas }`: people who are sent links of their own. Addresses get mail. */
  approvers: "surefoot:approvers",
  /** Bus that gets an event for each notice. Default `default`. */
  eventBus: "surefoot:eventBus",
  /** Name of a Secrets Manager secret that holds the address of a chat's webhook. */
  webhookSecret: "surefoot:webhookSecret",
  /** The approver in whose name everybody who reads that chat decides. Default nobody's. */
  webhookApprover: "surefoot:webhookApprover",
  /** Set where an emulator on this machine stands in for AWS. Default false. */
  local: "surefoot:local",
  /** Emulators that lack state machine versions and aliases set it to false. Default true. */
  stateMachineVersions: "surefoot:stateMachineVersions",
  /** Agents, separated by commas, whose open runs are given up by a deployment that takes them away. Default none. */
  abandonRuns: "surefoot:abandonRuns",
  /** JSON `{ [environment name]: value }` for the agents' step functions. */
  environment: "surefoot:environment",
  /** JSON `{ [environment name]: name of a Secrets Manager secret }` for the agents' step functions. */
  secrets: "surefoot:secrets",
} as const;

/** A flag; the command line passes it as text. @throws Error for anything but true and false. */
export function contextFlag(node: Node, key: string, byDefault: boolean): boolean {
  const value: unknown = node.tryGetContext(key) ?? byDefault;
  if (value === true || value === "true") return true;
  if (value === false || value === "false") return false;
  throw new Error(`context ${key}: expected true or false, found ${JSON.stringify(value)}`);
}

export function contextText(node: Node, key: string, byDefault: string): string {
  const value: unknown = node.tryGetContext(key) ?? byDefault;
  if (typeof value === "string") return value;
  throw new Error(`context ${key}: expected text, found ${JSON.stringify(value)}`);
}

/** Texts separated by commas; none where the context says nothing. */
export const contextList = (node: Node, key: string): readonly string[] =>
  contextText(node, key, "")
    .split(",")
    .map((text) => text.trim())
    .filter((text) => text !== "");

/** `{ [property]: text }` where the context says something, `{}` where it does not: for optional properties. */
export function contextOption<Name extends string>(
  node: Node,
  key: string,
  property: Name,
): { readonly [N in Name]?: string } {
  const text = contextText(node, key, "");
  return (text === "" ? {} : { [property]: text }) as { readonly [N in Name]?: string }; // a computed key widens to string
}

/** A flat object of texts, as an object in `cdk.json` or as JSON on the command line. @throws Error for anything else. */
export function contextMap(node: Node, key: string): Readonly<Record<string, string>> {
  const found: unknown = node.tryGetContext(key) ?? {};
  const value = typeof found === "string" ? parseJson(found) : found;
  if (isMap(value)) return value;
  throw new Error(`context ${key}: expected an object of texts like {"NAME":"value"}, found ${JSON.stringify(found)}`);
}

const isMap = (value: unknown): value is Record<string, string> =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((member) => typeof member === "string");

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
