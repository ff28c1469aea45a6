import { describe, expect, it } from "vitest";
import { z } from "zod";
import { byQuery, defineAgent, minutes, writeTool } from "../../../../shared/index.ts";
import { at, testAgent } from "../../../../infra/testing/index.ts";

/** A ticket system as you may have one in your tests already: it knows no keys and can be searched. */
class Tickets {
  readonly created: { readonly id: string; readonly marker: string; readonly title: string }[] = [];
  create(title: string, marker: string) {
    const ticket = { id: `T-${this.created.length + 1}`, marker, title };
    this.created.push(ticket);
    return ticket;
  }
  find = (marker: string) => this.created.find((ticket) => ticket.marker === marker);
}

const Ticket = z.object({ id: z.string() });
const Report = z.object({ title: z.string() });

/** The agent over that system. Its own code runs in the test: the request, the marker, and the search for it. */
const agentOver = (tickets: Tickets) => {
  const createTicket = writeTool("create_ticket", {
    version: 1,
    risk: "low",
    input: Report,
    output: Ticket,
    downstream: byQuery({
      settle: minutes(1),
      lookup: async (_report: z.infer<typeof Report>, operationId) => {
        const found = tickets.find(operationId);
        return found ? { found: { id: found.id } } : "not_found";
      },
    }),
    semanticFields: ["title"],
    externalRef: ({ id }) => id,
    execute: async ({ title }, { idempotencyKey }) => ({ id: tickets.create(title, idempotencyKey).id }),
  });
  return defineAgent("reporter", { version: 1, input: Report })
    .write("file", { tool: createTicket, with: ({ input }) => input, businessKey: ({ input }) => input.title })
    .end();
};

describe("a tool's own code", () => {
  it("files one ticket though its answer is lost: the next attempt finds it", async () => {
    const tickets = new Tickets();
    const world = await testAgent(agentOver(tickets));
    world.fault(at.tool("create_ticket"), "lost_ack");
    const run = await world.start({ title: "It is broken" });

    expect(await run.untilEnd()).toMatchObject({ status: "SUCCEEDED", state: { file: { id: "T-1" } } });
    expect(tickets.created).toHaveLength(1);
    expect(world.requests("create_ticket").map(({ verb }) => verb)).toEqual(["execute", "lookup"]);
  });

  it("files one ticket though two workers are at it", async () => {
    for (const seed of [1, 2, 3]) {
      const tickets = new Tickets();
      const world = await testAgent(agentOver(tickets), { seed });
      world.fault(at.invoke("step-reporter"), "duplicate");
      await (await world.start({ title: "It is broken" })).untilEnd();
      expect(tickets.created).toHaveLength(1);
    }
  });
});
