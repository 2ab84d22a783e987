// The floor for `mcp list`: connects to the servers in its argument, reads their lists, and prints the number of tools.
import { open } from "./floor.mjs";

const client = await open(JSON.parse(process.argv[2]));
process.stdout.write(`${client.count()}\n`);
await client.close();
