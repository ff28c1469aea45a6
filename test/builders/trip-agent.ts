import { z } from "zod";
import { double, testAgent, type TestAgentOptions, type TestWorld } from "../../infra/testing/index.ts";
import {
  type Agent,
  byKey,
  byQuery,
  days,
  defineAgent,
  type Downstream,
  hours,
  minutes,
  none,
  writeTool,
} from "../../shared/index.ts";

export const Trip = z.object({ trip: z.string(), cents: z.number().int() });
const Booking = z.object({ trip: z.string(), cents: z.number().int() });
const Booked = z.object({ ref: z.string() });
const Cancellation = z.object({ ref: z.string(), trip: z.string() });

/** What an other side can tell of a booking. `direct` has neither key nor query. */
export type Side = "key" | "key_and_query" | "query" | "direct" | "queue" | "human";

export interface TripOptions {
  /** Of the tool that books the car. Default `key`. */
  readonly car?: Side;
  /** Of the tool that cancels the car. Default `key`. */
  readonly cancelCar?: Side;
  /** Asks a person before it is paid; a no ends the run. */
  readonly review?: boolean;
  /** Why it must not be paid, found right before it would be. */
  readonly unpayable?: string;
  /** Whether anything can be undone. Default true. */
  readonly compensates?: boolean;
}

/** hotel → car → mail → (review) → pay. All but the mail can be undone. */
export function tripAgent({
  car = "key",
  cancelCar = "key",
  review = false,
  unpayable,
  compensates = true,
}: TripOptions = {}): Agent {
  const book = (name: string, side: Side) => bookTool(name, downstreamOf(side));
  const undo = (name: string, side: Side = "key") => ({
    tool: undoTool(name, downstreamOf(side)),
    with: ({ input }: { readonly input: z.infer<typeof Trip> }, { ref }: z.infer<typeof Booked>) => ({
      ref,
      trip: input.trip,
    }),
  });
  const undone = (name: string, side?: Side) => (compensates ? { compensate: undo(name, side) } : {});
  const asked = {
    with: ({ input }: { readonly input: z.infer<typeof Trip> }) => input,
    businessKey: ({ input }: { readonly input: z.infer<typeof Trip> }) => input.trip,
  };
  const booked = defineAgent("trip-agent", { version: 1, input: Trip })
    .write("hotel", { tool: book("book_hotel", "key"), ...asked, ...undone("cancel_hotel") })
    .write("car", { tool: book("book_car", car), ...asked, ...undone("cancel_car", cancelCar) })
    .write("mail", { tool: book("send_mail", "direct"), ...asked });
  const precondition = () => unpayable ?? true;
  const pay = { tool: book("pay", "key"), ...asked, precondition, ...undone("pay_back") };
  if (!review) return booked.write("pay", pay).end();
  return booked
    .approval("review", {
      of: "pay",
      show: ({ input }) => ({
        title: "Pay for the trip",
        fields: [{ type: "money", label: "Amount", amount_cents: input.cents, currency: "EUR" }],
        on_approve: "It is paid.",
        on_reject: "Everything is cancelled.",
      }),
      validFor: days(1),
      onReject: "end",
    })
    .write("pay", pay)
    .end();
}

/** Every tool of the agent, in the order in which a run calls them, and then in the order in which they are undone. */
export const tripTools = [
  "book_hotel",
  "book_car",
  "send_mail",
  "pay",
  "pay_back",
  "cancel_car",
  "cancel_hotel",
] as const;
type TripTool = (typeof tripTools)[number];

function downstreamOf(side: Side): Downstream<unknown, z.infer<typeof Booked>> {
  // Asked in its place: the double, which knows.
  const lookup = async () => "cannot_tell" as const;
  switch (side) {
    case "key":
      return byKey({ window: hours(24) });
    case "key_and_query":
      return byKey({ window: hours(24), lookup, settle: minutes(1) });
    case "query":
      return byQuery({ settle: minutes(1), lookup });
    case "direct":
      return none();
    case "queue":
    case "human":
      return none({ delivery: side });
    default:
      return side satisfies never;
  }
}

const unplugged = () => Promise.reject(new Error("a double stands in its place"));
const answering = {
  version: 1,
  risk: "high" as const,
  output: Booked,
  externalRef: ({ ref }: { readonly ref: string }) => ref,
  resultOf: (ref: string) => ({ ref }),
  execute: unplugged,
};

const bookTool = (name: string, downstream: Downstream<unknown, z.infer<typeof Booked>>) =>
  writeTool(name, { ...answering, input: Booking, downstream, semanticFields: ["trip", "cents"] });

const undoTool = (name: string, downstream: Downstream<unknown, z.infer<typeof Booked>>) =>
  writeTool(name, { ...answering, input: Cancellation, downstream, semanticFields: ["ref"] });

export type TripWorldOptions = TripOptions & Pick<TestAgentOptions, "tools" | "seed" | "sweepEvery">;

/** A trip agent in one process, with the states and handlers that run on AWS. `tools` replaces the doubles of some. */
export async function tripWorld(options: TripWorldOptions = {}): Promise<TestWorld> {
  const { tools, seed, sweepEvery, ...trip } = options;
  const agent = tripAgent(trip);
  const known = agent.nodes.flatMap((node) =>
    node.kind === "write" ? [node.tool.name, ...(node.compensate ? [node.compensate.tool.name] : [])] : [],
  );
  const sideOf: Partial<Record<TripTool, Side>> = {
    book_car: trip.car ?? "key",
    cancel_car: trip.cancelCar ?? "key",
    send_mail: "direct",
  };
  const doubles = tripTools
    .filter((name) => known.includes(name))
    .map((name) => [name, doubleOf(name, sideOf[name] ?? "key")] as const);
  return testAgent(agent, {
    tools: { ...Object.fromEntries(doubles), ...tools },
    ...(seed !== undefined && { seed }),
    ...(sweepEvery !== undefined && { sweepEvery }),
  });
}

/** The tools whose effects reached the outside, in order. */
export const happened = (world: TestWorld): readonly string[] => world.effects().map(({ tool }) => tool);

export const trip = { trip: "T-1", cents: 90_000 };

function doubleOf(name: string, side: Side) {
  const result = (_request: unknown, { n }: { readonly n: number }) => ({ ref: `${name}/${n}` });
  switch (side) {
    case "key":
    case "key_and_query":
      return double.key({ window: hours(24), result });
    case "query":
      return double.query({ result });
    case "direct":
    case "queue":
    case "human":
      return double.none({ result });
    default:
      return side satisfies never;
  }
}
