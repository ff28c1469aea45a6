import {
  type DynamoDBDocumentClient,
  type PutCommandInput,
  UpdateCommand,
  type UpdateCommandInput,
} from "@aws-sdk/lib-dynamodb";
import {
  getItem,
  type Item,
  isRefusedCondition,
  parseItem,
  putConditionally,
  queryAll,
} from "../dynamo/dynamo-item.ts";
import { checkReadable } from "../contract/checkpoint-schema.ts";
import { Fault } from "../faults/fault.ts";
import type { Clock } from "../ports/clock.ts";
import { isoTime } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import { openShard } from "../tables/table-schema.ts";
import { Waiter } from "../waiter/waiter.ts";
import { dynamoRunApprovals, waiterIndexAttributes } from "./dynamo-run-approvals.ts";
import { dynamoRunContracts } from "./dynamo-run-contracts.ts";
import { dynamoRunIndexes } from "./dynamo-run-indexes.ts";
import { NodeFailure } from "./node-failure.ts";
import type { Position } from "./position.ts";
import type { Appended, RunChange, RunLog } from "./run-log.ts";
import { isOpen, RunRecord, type RunStatus } from "./run-record.ts";
import { Step } from "./step.ts";

const itemKey = {
  run: "RUN",
  step: (position: string) => `STEP#${position}`,
  waiter: (position: string) => `WAIT#${position}`,
  failure: (position: string) => `FAIL#${position}`,
  workflow: "WORKFLOW",
} as const;

/** Times the workflow pointer may move under us before giving up: each move is another caller's new run. */
const openAttemptsMax = 5;

export interface DynamoRunLogOptions {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** The run log in DynamoDB: one partition a run, one conditional item write a record. */
export function dynamoRunLog({ client, table, clock, ids }: DynamoRunLogOptions): RunLog {
  const keyOf = (runId: string, item: string) => ({ run_id: runId, item });
  const now = () => isoTime(clock.nowMs());

  async function putFirst<T extends { readonly run_id: string; readonly write_id: string }>(
    item: string,
    record: T,
    indexed: Item,
    may: Pick<PutCommandInput, "ConditionExpression" | "ExpressionAttributeNames" | "ExpressionAttributeValues">,
    parse: (stored: Item) => T,
  ): Promise<Appended<T>> {
    const key = keyOf(record.run_id, item);
    const put = await putConditionally(
      client,
      {
        TableName: table,
        Item: { ...record, ...indexed, ...key },
        ...may,
      },
      key,
    );
    if (put.written) return { written: true, record };
    if (put.item === undefined)
      throw new Fault("record_vanished", "retryable", `${item} of run ${record.run_id} was refused and then not found`);
    return { written: false, record: parse(put.item) };
  }

  /** @returns false where the condition refuses it. */
  const updateIf = (update: Omit<UpdateCommandInput, "TableName">): Promise<boolean> =>
    client.send(new UpdateCommand({ TableName: table, ...update })).then(
      () => true,
      (error: unknown) => {
        if (isRefusedCondition(error)) return false;
        throw error;
      },
    );

  const readRun = async (runId: string) => {
    const item = await getItem(client, table, keyOf(runId, itemKey.run));
    return item && parseItem(RunRecord, item, `run ${runId}`);
  };
  const readWaiter = async (runId: string, position: Position) => {
    const item = await getItem(client, table, keyOf(runId, itemKey.waiter(position)));
    return item && parseItem(Waiter, item, `waiter ${runId} ${position}`);
  };
  const putRun = (run: RunRecord) =>
    putFirst(itemKey.run, run, runIndexAttributes(run), ifAbsent, (item) =>
      parseItem(RunRecord, item, `run ${run.run_id}`),
    );

  /** Points the workflow at `runId` if it points at `from` (or at nothing). @returns the run it points at now. */
  async function pointWorkflow(run: RunRecord, from: string | undefined): Promise<string> {
    const key = keyOf(`WORKFLOW#${run.agent}#${run.workflow_id}`, itemKey.workflow);
    const put = await putConditionally(
      client,
      {
        TableName: table,
        Item: { ...key, current_run_id: run.run_id, write_id: ids.next() },
        ...(from === undefined
          ? { ConditionExpression: "attribute_not_exists(run_id)" }
          : { ConditionExpression: "current_run_id = :from", ExpressionAttributeValues: { ":from": from } }),
      },
      key,
    );
    return put.written ? run.run_id : String(put.item?.["current_run_id"]);
  }

  return {
    ...dynamoRunIndexes(client, table),
    ...dynamoRunContracts({ client, table, clock, ids }),
    ...dynamoRunApprovals({ client, table, itemOf: itemKey.waiter, readWaiter }),
    readRun,
    readWaiter,
    openFork: putRun,

    async open(run, mayFollow) {
      let from: string | undefined;
      for (let attempt = 0; attempt < openAttemptsMax; attempt++) {
        const current = await pointWorkflow(run, from);
        if (current === run.run_id) return putRun(run);
        const found = await readRun(current);
        // The pointer's owner died before it wrote its run: this caller writes it, under the id that the workflow points at.
        if (found === undefined)
          return putRun({ ...run, run_id: current as RunRecord["run_id"], execution: `${current}-1` });
        if (isOpen(found.status) || !mayFollow) return { written: false, record: found };
        from = current;
      }
      throw new Fault(
        "workflow_contended",
        "retryable",
        `workflow ${run.workflow_id} changed hands ${openAttemptsMax} times: start it again`,
      );
    },

    async read(runId) {
      const items = await queryAll(client, {
        TableName: table,
        ConsistentRead: true,
        KeyConditionExpression: "run_id = :run",
        ExpressionAttributeValues: { ":run": runId },
      });
      const of = (prefix: string) => items.filter((item) => String(item["item"]).startsWith(prefix));
      const run = of(itemKey.run)[0];
      if (run) checkReadable(runId, run);
      return (
        run && {
          run: parseItem(RunRecord, run, `run ${runId}`),
          steps: of("STEP#").map((item) => parseItem(Step, item, `step ${String(item["item"])} of run ${runId}`)),
          waiters: of("WAIT#").map((item) => parseItem(Waiter, item, `waiter ${String(item["item"])} of run ${runId}`)),
          failures: of("FAIL#").map((item) =>
            parseItem(NodeFailure, item, `failure ${String(item["item"])} of run ${runId}`),
          ),
        }
      );
    },

    async readStep(runId, position) {
      const item = await getItem(client, table, keyOf(runId, itemKey.step(position)));
      return item && parseItem(Step, item, `step ${position} of run ${runId}`);
    },

    append: (step) =>
      putFirst(itemKey.step(step.position), step, {}, ifAbsent, (item) =>
        parseItem(Step, item, `step ${step.position} of run ${step.run_id}`),
      ),

    async change(run, from, change) {
      const writeId = ids.next();
      const key = keyOf(run.run_id, itemKey.run);
      try {
        await client.send(
          new UpdateCommand({ TableName: table, Key: key, ...changeExpression(run, from, change, writeId, now()) }),
        );
        return true;
      } catch (error) {
        if (!isRefusedCondition(error)) throw error;
        return (await readRun(run.run_id))?.write_id === writeId;
      }
    },

    async noteFailure({ run_id, position, ...failure }) {
      const key = keyOf(run_id, itemKey.failure(position));
      const update = client.send(
        new UpdateCommand({
          TableName: table,
          Key: key,
          UpdateExpression:
            "SET #position = :position, #node = :node, #error = :error, updated_at = :at, not_before = :notBefore, write_id = :write ADD attempts :one",
          // The SDK's repeat of a write whose acknowledgement was lost is not another attempt.
          ConditionExpression: "attribute_not_exists(write_id) OR write_id <> :write",
          ExpressionAttributeNames: { "#position": "position", "#node": "node", "#error": "error" },
          ExpressionAttributeValues: {
            ":position": position,
            ":node": failure.node,
            ":error": failure.error,
            ":at": failure.updated_at,
            ":notBefore": failure.not_before ?? failure.updated_at,
            ":write": ids.next(),
            ":one": 1,
          },
          ReturnValues: "ALL_NEW",
        }),
      );
      const counted = await update.then(
        ({ Attributes }) => Attributes,
        (error: unknown) => {
          if (!isRefusedCondition(error)) throw error;
          return getItem(client, table, key);
        },
      );
      return parseItem(NodeFailure, counted ?? {}, `failure at ${position} of run ${run_id}`).attempts;
    },

    putWaiter: (waiter) =>
      putFirst(
        itemKey.waiter(waiter.position),
        waiter,
        waiterIndexAttributes(waiter),
        waiter.kind === "approval" ? ifAbsent : ifAnswered,
        (item) => parseItem(Waiter, item, `waiter ${waiter.position} of run ${waiter.run_id}`),
      ),

    registerToken: (runId, position, taskToken, executionAttempt) =>
      updateIf({
        Key: keyOf(runId, itemKey.waiter(position)),
        // Open again, where it was answered: what was told was told to an earlier token.
        UpdateExpression:
          "SET task_token = :token, execution_attempt = :attempt, #status = :open, open_shard = :shard, open_since = requested_at REMOVE answered_at",
        ConditionExpression:
          "attribute_exists(run_id) AND (attribute_not_exists(execution_attempt) OR execution_attempt <= :attempt)",
        ExpressionAttributeNames: { "#status": "status" },
        ExpressionAttributeValues: {
          ":token": taskToken,
          ":attempt": executionAttempt,
          ":open": "OPEN",
          ":shard": openShard("waiter", runId),
        },
      }),

    closeWaiter: ({ run_id, position, write_id, task_token: token }, answeredAt) =>
      updateIf({
        Key: keyOf(run_id, itemKey.waiter(position)),
        UpdateExpression: "SET #status = :answered, answered_at = :at REMOVE open_shard, open_since",
        ConditionExpression: `write_id = :write AND #status = :open AND ${token === undefined ? "attribute_not_exists(task_token)" : "task_token = :token"}`,
        ExpressionAttributeNames: { "#status": "status" },
        ExpressionAttributeValues: {
          ":answered": "ANSWERED",
          ":open": "OPEN",
          ":at": answeredAt,
          ":write": write_id,
          ...(token !== undefined && { ":token": token }),
        },
      }),
  };
}

/** First writer wins. */
const ifAbsent = { ConditionExpression: "attribute_not_exists(run_id)" };
/** A waiter that the ledger answers may be opened again once it was answered: the same operation can be in doubt twice. */
const ifAnswered = {
  ConditionExpression: "attribute_not_exists(run_id) OR #status = :answered",
  ExpressionAttributeNames: { "#status": "status" },
  ExpressionAttributeValues: { ":answered": "ANSWERED" },
};

/** What the sparse and listing indexes need beside a run. */
const runIndexAttributes = (run: RunRecord): Item => ({
  agent_runs: run.agent,
  workflow_runs: run.workflow_id,
  open_shard: openShard("run", run.run_id),
  open_since: run.created_at,
});

/** These describe the present status only: a change that does not name them removes them. */
const ofThisStatus = ["waiting_for", "failure", "moving_to"] as const;

function changeExpression(run: RunRecord, from: readonly RunStatus[], change: RunChange, writeId: string, at: string) {
  const values: Record<string, unknown> = { ":mine": run.execution, ":write": writeId, ":at": at };
  const names: Record<string, string> = { "#status": "status", "#execution": "execution" };
  const sets = ["write_id = :write", "updated_at = :at"];
  const removes = ofThisStatus.filter((name) => change[name] === undefined) as string[];
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) continue;
    names[`#${name}`] = name;
    values[`:${name}`] = value;
    sets.push(`#${name} = :${name}`);
  }
  const froms = from.map((status, index) => {
    values[`:from${index}`] = status;
    return `:from${index}`;
  });
  if (change.status !== undefined && !isOpen(change.status)) removes.push("open_shard", "open_since");
  return {
    UpdateExpression: `SET ${sets.join(", ")}${removes.length > 0 ? ` REMOVE ${removes.join(", ")}` : ""}`,
    ConditionExpression: `#execution = :mine AND #status IN (${froms.join(", ")})`,
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  };
}
