/** The messages that a queue's worker holds at this moment. */
export interface MessagesInHand {
  /** Hands one back: it is received again after so many seconds, 0 to 43,200, and not after the queue's own time. */
  handBack(receiptHandle: string, afterSeconds: number): Promise<void>;
}
