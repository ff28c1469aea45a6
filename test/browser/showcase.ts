import type { ApprovalView } from "../../shared/index.ts";
import { viewOf } from "./review-stage.ts";

/** A view with every kind of field. */
export const everyField: ApprovalView = viewOf(
  [
    { type: "addresses", label: "Goes to", list: ["customer@example.com", "accounting@example.com"] },
    {
      type: "diff",
      label: "Shipping policy",
      before: "# Returns\n\nWithin 14 days.\nThe customer pays.\n\nContact us first.",
      after: "# Returns\n\nWithin 30 days.\nWe pay the way back.\n\nContact us first.",
    },
    {
      type: "sql",
      label: "Correction in the database",
      statement: "UPDATE orders\n   SET status = 'refunded'\n WHERE id = 'ORD-1'\n   AND status = 'paid';",
      estimated_rows: 1,
      rollback_plan: "Set the status back to 'paid' for ORD-1; the row is in the backup of this morning.",
    },
    {
      type: "branch",
      label: "Pull request",
      repository: "shop/returns",
      base: "main",
      head: "fix/return-window",
      files: [
        { path: "src/policy/return-window.ts", added: 12, removed: 4 },
        { path: "test/policy/return-window.test.ts", added: 31, removed: 0 },
      ],
    },
  ],
  { risk: "high" },
);
