/** Margin of a lease over the moment Lambda kills the invocation: clocks differ. Milliseconds. */
export const leaseMarginMs = 1_000;
