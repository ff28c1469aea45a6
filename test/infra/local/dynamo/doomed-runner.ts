/** A runner that will be killed: starts the database in the folder it is given and says on which process it runs. */
import { startLocalDynamo } from "../../../../infra/local/dynamo/local-dynamo.ts";

const [path = ""] = process.argv.slice(2);
const { pid } = await startLocalDynamo({ path });
console.log(pid);
