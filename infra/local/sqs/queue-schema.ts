type FifoName = `${string}.fifo`;

/** A FIFO queue and where its poisoned messages go, as data. Every message brings its own deduplication id. */
export interface QueueSchema {
  readonly name: FifoName;
  /** How long a received message stays with its receiver. Above the consumer's own timeout, else a second one starts beside it.
   *  SQS takes 0 to 43,200. */
  readonly visibilityTimeoutSeconds: number;
  /** Receives before the next one moves the message to the dead letter queue instead. SQS takes 1 to 1,000. */
  readonly maxReceiveCount: number;
  /** Created too. Two queues may share it. */
  readonly deadLetterName: FifoName;
}
