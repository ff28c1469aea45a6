/** Names in the environment of the files that are the other side: what is to be sent now, and one line for each effect. */
export const worldNames = { amount: "REVIEW_AMOUNT_FILE", effects: "REVIEW_EFFECTS_FILE" } as const;
