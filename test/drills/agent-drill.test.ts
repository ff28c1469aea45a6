import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { completeScript } from "../../infra/drill/complete-script.ts";
import { playCase } from "../../infra/drill/play-case.ts";
import refundScript from "../../infra/drill/refund-agent.drill.ts";
import { runDrill } from "../../infra/drill/run-drill.ts";
import { parseStrikes } from "../../infra/drill/strike.ts";
import { writeReport } from "../../infra/drill/write-report.ts";
import { byKey, byQuery, defineAgent, hours, minutes, none, writeTool } from "../../shared/index.ts";

const Order = z.object({ order: z.string(), amountCents: z.number().int().positive() });
const Receipt = z.object({ ref: z.string() });

const sides = {
  key: byKey({ window: hours(24) }),
  query: byQuery<z.infer<typeof Order>, z.infer<typeof Receipt>>({
    settle: minutes(2),
    lookup: async () => "cannot_tell",
  }),
  none: none(),
};

/** One write, on an other side with that capability. Its own code would reach the network: a drill must not run it. */
const orderAgent = (capability: keyof typeof sides) =>
  defineAgent("order-agent", { version: 1, input: Order })
    .write("place", {
      tool: writeTool("place_order", {
        version: 1,
        risk: "low",
        input: Order,
        output: Receipt,
        downstream: sides[capability],
        semanticFields: ["order", "amountCents"],
        externalRef: ({ ref }) => ref,
        execute: () => Promise.reject(new Error("a drill never calls the real other side")),
      }),
      with: ({ input }) => input,
      businessKey: ({ input }) => input.order,
    })
    .end();

const folder = mkdtempSync(join(tmpdir(), "surefoot-drill-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("a drill", () => {
  it.each(["17:crash_after", "20:lost_ack+31:zombie", "30:rival", "12:sweep+40:delay"])(
    "of case %s gives the same trace twice by one seed, and another by another",
    async (text) => {
      const script = completeScript(refundScript);
      const strikes = parseStrikes(text);
      const first = await playCase(script, 3, strikes);
      const second = await playCase(script, 3, strikes);
      expect(second.traceText).toBe(first.traceText);
      expect(first.trace.length).toBeGreaterThan(40);
      const struck = first.trace.filter(({ fault }) => fault !== undefined).map(({ n }) => n);
      expect(struck).toEqual(
        strikes.filter(({ kind }) => kind !== "rival" && kind !== "sweep").map(({ call }) => call),
      );
      expect((await playCase(script, 4, strikes)).traceText).not.toBe(first.traceText);
    },
    120_000,
  );

  it.each(["key", "query", "none"] as const)(
    "of an agent that comes with nothing but its module makes up input and other side, by %s, and finds every promise kept",
    async (capability) => {
      const report = await runDrill(
        { agent: orderAgent(capability) },
        { seed: 1, combinedMax: 40, mayGoOn: () => true },
      );
      expect(report.violations).toEqual([]);
      expect(report.skipped).toBe(0);
      expect(report.counts.single).toBeGreaterThan(100);
      expect(report.invented).toEqual(["the input", 'the result of tool "place_order"']);
      const atPoint = (point: string) =>
        report.matrix.filter((row) => row.point === point).map(({ effects, ledger }) => `${effects} ${ledger}`);
      const known = { key: "1 SUCCEEDED", query: "1 SUCCEEDED", none: "1 UNKNOWN" }[capability];
      expect(new Set(atPoint("CP3"))).toEqual(new Set([known]));
    },
    240_000,
  );

  it("ends when its budget is spent, and says how much it left out", async () => {
    let left = 5;
    const report = await runDrill({ agent: orderAgent("key") }, { seed: 1, mayGoOn: () => left-- > 0 });
    expect(report.cases).toBe(6);
    expect(report.skipped).toBeGreaterThan(100);
  });

  it("refuses an agent whose run without faults does not succeed: there is nothing to compare with", async () => {
    const tools = { place_order: () => Promise.reject(Object.assign(new Error("no"), { status: 400 })) };
    await expect(runDrill({ agent: orderAgent("key"), tools }, { seed: 1, mayGoOn: () => true })).rejects.toThrow(
      /the run without faults ended FAILED/,
    );
  });

  it("reports a broken promise with the one line that shows it again", async () => {
    const report = await runDrill({ agent: orderAgent("key") }, { seed: 9, combinedMax: 0, mayGoOn: () => false });
    const broken = {
      case: "7:crash_after",
      seed: 9,
      violations: [{ invariant: "effect_once" as const, what: "<b>place_order</b>: 2 effects" }],
    };
    const files = writeReport({ ...report, violations: [broken] }, folder, "surefoot drill order.ts");
    const line = "surefoot drill order.ts --seed 9 --case 7:crash_after";
    expect(readFileSync(files.markdown, "utf8")).toContain(`\`${line}\``);
    const page = readFileSync(files.html, "utf8");
    expect(page).toContain(line);
    expect(page).toContain("&lt;b&gt;place_order&lt;/b&gt;: 2 effects");
  });

  it.each(["", "7", "7:explode", "0:drop", "x:drop"])("refuses the case %j and says what is expected", (text) => {
    expect(() => parseStrikes(text)).toThrow(/expected clean or <call>:<fault>/);
  });
});
