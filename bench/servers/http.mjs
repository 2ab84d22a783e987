/*
 * A fast HTTP server with plain JSON answers and no sessions. Every path is a separate server. Prints its address, and
 * ends when its stdin ends.
 */
import { createServer } from "node:http";
import { createReplies } from "./replies.mjs";

const reply = createReplies(Number(process.argv[2]));
const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    if (request.method !== "POST") return response.writeHead(405).end();
    const answer = reply(JSON.parse(Buffer.concat(chunks).toString()));
    if (answer === undefined) return response.writeHead(202).end();
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(answer) });
    return response.end(answer);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", 4096, () => process.stdout.write(`http://127.0.0.1:${server.address().port}/\n`));
process.stdin.resume().on("end", () => process.exit());
