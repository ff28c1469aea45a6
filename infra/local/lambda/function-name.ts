/** Where no account exists, ARNs still need one; emulators agree on this. */
export const localAccountId = "000000000000";

export interface FunctionReference {
  readonly name: string;
  /** Version or alias; absent for the unqualified function and for `$LATEST`, which are the same. */
  readonly qualifier?: string;
}

/** Reads every way in which AWS lets a caller name a function: `name`, `name:qualifier`, `account:function:name[:qualifier]`, or an ARN. */
export function parseFunctionName(text: string): FunctionReference {
  const [, name = text, qualifier] =
    /^(?:(?:arn:[^:]+:lambda:[^:]*:)?\d{12}:function:|function:)?([^:]+)(?::(.+))?$/.exec(text) ?? [];
  return qualifier === undefined || qualifier === "$LATEST" ? { name } : { name, qualifier };
}

export function functionKey({ name, qualifier }: FunctionReference): string {
  return qualifier === undefined ? name : `${name}:${qualifier}`;
}

export function functionArn(region: string, reference: FunctionReference): string {
  return `arn:aws:lambda:${region}:${localAccountId}:function:${functionKey(reference)}`;
}
