/** A runner that will be killed: invokes the function in the file it is given, with the port it is given. */
import { createLambdaPool } from "../../../../infra/local/lambda/lambda-pool.ts";

const [bundleFile = "", port = ""] = process.argv.slice(2);
const pool = createLambdaPool();
pool.register({ name: "step", bundleFile, environment: {}, timeoutMs: 600_000, memoryMb: 256 });
await pool.invoke("step", { port: Number(port) });
