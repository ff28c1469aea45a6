import type { Waiter } from "../waiter/waiter.ts";
import { waiterId } from "../waiter/waiter.ts";
import { askedDigest } from "./asked-digest.ts";
import type { KeyRings } from "./cached-key-ring.ts";
import { signLink } from "./review-link.ts";

/** Where people look at an approval. */
export interface ReviewLinks {
  /** A secret: whoever has it decides as `approver`, until the approval runs out. */
  signed(waiter: Waiter, approver: string): Promise<string>;
  /** The page of the approval, which says nothing to whom the API does not let in. */
  page(waiter: Waiter): string;
}

/** @param publicUrl of the API, as people reach it. */
export const reviewLinks = (publicUrl: string, keyRings: KeyRings): ReviewLinks => {
  const base = publicUrl.replace(/\/+$/u, "");
  return {
    async signed(waiter, approver) {
      const claim = {
        approval_id: waiterId(waiter.run_id, waiter.position),
        approver,
        asked: askedDigest(waiter),
        expires_at: Math.floor(Date.parse(waiter.expires_at) / 1_000),
      };
      return `${base}/review/${signLink(claim, await keyRings.current())}`;
    },
    page: ({ run_id, position }) => `${base}/approvals/${encodeURIComponent(waiterId(run_id, position))}`,
  };
};
