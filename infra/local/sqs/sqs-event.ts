import type { Message, MessageAttributeValue } from "@aws-sdk/client-sqs";

/** What Lambda hands a function that an SQS queue feeds. */
export interface SqsEvent {
  readonly Records: readonly SqsRecord[];
}

export interface SqsRecord {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  /** All of them; numbers and epoch milliseconds as text. FIFO queues add MessageGroupId, MessageDeduplicationId and SequenceNumber. */
  readonly attributes: {
    readonly ApproximateReceiveCount: string;
    readonly ApproximateFirstReceiveTimestamp: string;
    readonly SenderId: string;
    readonly SentTimestamp: string;
    readonly [name: string]: string;
  };
  readonly messageAttributes: Readonly<Record<string, SqsRecordAttribute>>;
  readonly md5OfBody: string;
  readonly md5OfMessageAttributes?: string;
  readonly eventSource: "aws:sqs";
  readonly eventSourceARN: string;
  readonly awsRegion: string;
}

export interface SqsRecordAttribute {
  readonly stringValue?: string;
  /** Base64. */
  readonly binaryValue?: string;
  /** Always empty: SQS keeps no lists. */
  readonly stringListValues: never[];
  readonly binaryListValues: never[];
  readonly dataType: string;
}

const unsaid = { ApproximateReceiveCount: "", ApproximateFirstReceiveTimestamp: "", SenderId: "", SentTimestamp: "" };

/** `message` as received with all attributes of both kinds. */
export function toSqsRecord(message: Message, eventSourceARN: string): SqsRecord {
  const md5 = message.MD5OfMessageAttributes;
  return {
    messageId: message.MessageId ?? "",
    receiptHandle: message.ReceiptHandle ?? "",
    body: message.Body ?? "",
    attributes: { ...unsaid, ...message.Attributes },
    messageAttributes: Object.fromEntries(
      Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [name, toAttribute(value)]),
    ),
    md5OfBody: message.MD5OfBody ?? "",
    ...(md5 === undefined ? {} : { md5OfMessageAttributes: md5 }),
    eventSource: "aws:sqs",
    eventSourceARN,
    awsRegion: eventSourceARN.split(":")[3] ?? "",
  };
}

function toAttribute({ StringValue, BinaryValue, DataType = "" }: MessageAttributeValue): SqsRecordAttribute {
  return {
    ...(StringValue === undefined ? {} : { stringValue: StringValue }),
    ...(BinaryValue === undefined ? {} : { binaryValue: Buffer.from(BinaryValue).toString("base64") }),
    stringListValues: [],
    binaryListValues: [],
    dataType: DataType,
  };
}
