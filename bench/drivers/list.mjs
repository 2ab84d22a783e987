// The floor of `mcp list`: connects to the servers that its argument names, reads their lists, prints how many tools there are.
import { open } from "./floor.mjs";

const client = await open(JSON.parse(process.argv[2]));
process.stdout.write(`${client.count()}\n`);
await client.close();
