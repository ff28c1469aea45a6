import { type EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { Fault } from "../faults/fault.ts";
import type { Channel } from "./channel.ts";
import type { Notice, NoticeKind } from "./notice.ts";

/** What rules match on. */
export const eventSource = "surefoot";
export const eventTypes: Readonly<Record<NoticeKind, string>> = {
  requested: "Approval Requested",
  reminder: "Approval Reminder",
  escalation: "Approval Escalation",
};

/**
 * An event bus, for programs: identifiers and the approval's page. Events are archived and logged by whoever matches them, so a link that
 * decides never lies in one, nor what a customer wrote.
 */
export const eventBridgeChannel = (client: EventBridgeClient, busName: string): Channel => ({
  name: "eventbridge",
  audience: () => [undefined],
  async send(notice, signal) {
    const { FailedEntryCount, Entries } = await client.send(
      new PutEventsCommand({
        Entries: [
          {
            EventBusName: busName,
            Source: eventSource,
            DetailType: eventTypes[notice.kind],
            Detail: JSON.stringify(detailOf(notice)),
          },
        ],
      }),
      { abortSignal: signal },
    );
    if (FailedEntryCount === 0) return;
    throw new Fault(
      "event_refused",
      "retryable",
      `EventBridge took no event: ${Entries?.[0]?.ErrorCode ?? "no reason given"}`,
    );
  },
});

const detailOf = ({ title: _title, approver: _approver, ...ids }: Notice) => ids;
