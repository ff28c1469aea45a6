import type { HistoryEvent } from "@aws-sdk/client-sfn";

/** Everything that is left out or rewritten before two histories are compared. Whatever is not in this table has to agree. */
export const normalisations = {
  acceleration:
    "Neither waits for real. Ours jumps to its next timer when nothing else can happen; moto makes no pauses, passes Waits faster, and lets a Task time out when the function's script says that nothing more will come (moto_sfn.py). Which event follows which is left to each.",
  timestamp:
    "Each interpreter has its own clock. The pauses of Retry, the only times our states ask for, are compared apart.",
  pauses: "Pauses of Retry are compared in whole milliseconds, which is as fine as a timestamp.",
  roleArn: "Ours runs under a made-up role; moto repeats the one that CreateStateMachine was given.",
  taskToken: "A secret that each interpreter draws for itself.",
  envelope:
    "SdkHttpMetadata, SdkResponseMetadata and ExecutedVersion describe the HTTP call to Lambda, which ours does not make. Generated states select from Payload only.",
  json: "Data is compared as JSON values: the order of keys and the spaces between them mean nothing.",
  serviceCause:
    "Behind the message of a Lambda service exception moto adds the HTTP status and the request's id in brackets. Names decide; the text is for people.",
  interleaving:
    "Which branch of a Parallel is a step ahead is chance, in AWS too: events are compared branch by branch, and their ids, which count across branches, only where no Parallel runs.",
  cutShort:
    "When a branch fails, how far its siblings had come is chance too, and moto lets a running Task of theirs end: their events are left out for that attempt.",
} as const satisfies Record<string, string>;

const envelope = ["SdkHttpMetadata", "SdkResponseMetadata", "ExecutedVersion"];
const jsonTexts = ["input", "output", "parameters"];

/** One event's details as comparable text. */
export function detailsOf(event: HistoryEvent): string {
  const details = Object.entries(event).find(([key]) => key.endsWith("EventDetails"))?.[1] as
    Readonly<Record<string, unknown>> | undefined;
  const kept = Object.entries(details ?? {}).filter(([key, value]) => key !== "roleArn" && value !== undefined);
  return JSON.stringify(sorted(Object.fromEntries(kept.map(([key, value]) => [key, normalised(key, value)]))));
}

/** Data of an execution as comparable text. */
export const dataOf = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : JSON.stringify(sorted(JSON.parse(text)));

export const causeOf = (cause: string | undefined): string | undefined =>
  cause?.replace(/ \(Service: AWSLambda; Status Code: \d+; Error Code: \w+; Request ID: [^;]*; Proxy: null\)$/, "");

function normalised(key: string, value: unknown): unknown {
  if (key === "cause" && typeof value === "string") return causeOf(value);
  return jsonTexts.includes(key) && typeof value === "string" ? JSON.parse(value) : value;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value === "string") return withoutServiceCause(value);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value)
    .filter(([key]) => !envelope.includes(key))
    .map(([key, member]) => [key, key === "task_token" ? "(token)" : sorted(member)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A caught error carries its cause into the data. */
const withoutServiceCause = (text: string): string => causeOf(text) ?? text;
