/** The queue behind `delivery: "queue"`, derived once from the step function's time: the CDK stack and the local runner use the same. */
export interface DeliveryQueueSettings {
  /** The worker waits for the step function, which delivers. */
  readonly workerTimeoutSeconds: number;
  /**
   * How long a message in hand stays unseen, where the worker is throttled or dies. AWS asks for six times the worker's time, since Lambda
   * tries a throttled invocation again within it, and each time that runs out is a receive. What the worker reports as failed is handed back sooner.
   */
  readonly visibilityTimeoutSeconds: number;
  /** Receives before a message goes to the dead letter queue. Each is an attempt of the worker, not of the operation. */
  readonly receivesMax: number;
}

/** Start of the worker and its few reads and writes beside the delivery itself. */
const workerMarginSeconds = 15;

export const deliveryQueueSettings = (stepTimeoutSeconds: number): DeliveryQueueSettings => {
  const workerTimeoutSeconds = stepTimeoutSeconds + workerMarginSeconds;
  return { workerTimeoutSeconds, visibilityTimeoutSeconds: 6 * workerTimeoutSeconds, receivesMax: 5 };
};
