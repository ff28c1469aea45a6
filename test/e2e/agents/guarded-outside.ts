import { z } from "zod";

/** Names in the environment of the files that are the outside: how it is now, and one line for each effect. */
export const outsideNames = { world: "GUARDED_WORLD_FILE", effects: "GUARDED_EFFECTS_FILE" } as const;

const Side = z.object({
  status: z.string().default("open"),
  limitCents: z.number().default(50_000),
  /** Added to what is sent: an argument that is another one after the decision. */
  driftCents: z.number().default(0),
});

/** The outside as one transfer meets it. What the file does not say is as usual. */
export const sideOf = (text: string, name: string): z.infer<typeof Side> =>
  z.record(z.string(), Side).parse(JSON.parse(text))[name] ?? Side.parse({});
