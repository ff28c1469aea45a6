/** A length of time in milliseconds. Made by the functions below, so that a bare number never hides its unit. */
export type DurationMs = number;

export const milliseconds = (n: number): DurationMs => n;
export const seconds = (n: number): DurationMs => n * 1_000;
export const minutes = (n: number): DurationMs => n * 60_000;
export const hours = (n: number): DurationMs => n * 3_600_000;
export const days = (n: number): DurationMs => n * 86_400_000;
