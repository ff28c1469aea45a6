import { z } from "zod";
import { defineAgent } from "../../shared/index.ts";

/** An agent that does nothing: what is left of a stack whose other agents a deployment takes away. */
export default defineAgent("spare-agent", { version: 1, input: z.unknown() })
  .compute("nothing", { output: z.null(), run: () => null })
  .end();
