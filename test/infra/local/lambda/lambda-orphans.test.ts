import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { bundleOf } from "./pool-fixture.ts";

/** The operating system closes a dead process's socket, so its end is the function's end. */
const holdsASocket = (andThen: string) => `
  import { connect } from "node:net";
  import { once } from "node:events";
  export const handler = async ({ port }) => {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    await new Promise((sent) => socket.write("running", sent));
    ${andThen}
  };`;

it.each([
  ["waiting for an answer", "await new Promise(() => {});"],
  ["busy in a loop", "for (;;);"],
])("a function %s dies with a runner that was killed", async (_what, andThen) => {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const program = join(import.meta.dirname, "orphan-parent.ts");
  const runner = spawn(process.execPath, ["--import", "tsx", program, bundleOf(holdsASocket(andThen)), String(port)], {
    stdio: "inherit",
  });

  const [socket] = (await once(server, "connection")) as [Socket];
  socket.on("error", () => undefined); // a reset is an end too
  await once(socket, "data");
  const functionEnded = once(socket, "close");
  runner.kill("SIGKILL");
  await functionEnded;
  expect(runner.killed).toBe(true);
});
