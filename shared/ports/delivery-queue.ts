/** One message: an operation whose request already lies in the ledger. */
export interface Delivery {
  readonly operationId: string;
  /** Deliveries of one group are in order and one at a time: the business key. */
  readonly group: string;
  /** Attempts so far: another attempt is another message. */
  readonly attempt: number;
}

/** The queue behind `delivery: "queue"`. Sending the same attempt twice is harmless. */
export interface DeliveryQueue {
  send(delivery: Delivery): Promise<void>;
}
