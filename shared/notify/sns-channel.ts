import { PublishCommand, type SNSClient } from "@aws-sdk/client-sns";
import { type Channel, oneEach } from "./channel.ts";
import { noticeSubject, noticeText } from "./notice-text.ts";

/** SNS takes subjects of fewer than 100 characters. */
const subjectCharsMax = 99;

/**
 * A topic. Each approver's message has their name as its attribute `approver`, so that a subscription with a filter gets its own only.
 * Messages for everybody have no such attribute.
 */
export const snsChannel = (client: SNSClient, topicArn: string): Channel => ({
  name: "sns",
  audience: oneEach,
  async send(notice, signal) {
    const attributes = {
      notice_id: notice.notice_id,
      kind: notice.kind,
      agent: notice.agent,
      risk: notice.risk,
      ...(notice.approver !== undefined && { approver: notice.approver }),
    };
    await client.send(
      new PublishCommand({
        TopicArn: topicArn,
        Subject: noticeSubject(notice).slice(0, subjectCharsMax),
        Message: noticeText(notice),
        MessageAttributes: Object.fromEntries(
          Object.entries(attributes).map(([name, value]) => [name, { DataType: "String", StringValue: value }]),
        ),
      }),
      { abortSignal: signal },
    );
  },
});
