// Receives spans as OTLP/JSON over HTTP and prints them as a tree: enough to see what Fairlead sends, without a collector.
// Run it with: node docs/examples/collector.mjs [PORT]
import { createServer } from "node:http";

const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (text) => {
    body += text;
  });
  request.on("end", () => {
    response.setHeader("content-type", "application/json").end("{}");
    show(JSON.parse(body));
  });
});

function show({ resourceSpans = [] }) {
  const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  spans.sort((one, other) => (BigInt(one.startTimeUnixNano) < BigInt(other.startTimeUnixNano) ? -1 : 1));
  const ids = new Set(spans.map(({ spanId }) => spanId));
  print(spans, (span) => !ids.has(span.parentSpanId), "");
}

function print(spans, isHere, indent) {
  for (const span of spans.filter(isHere)) {
    const attributes = Object.fromEntries(span.attributes.map(({ key, value }) => [key, value.stringValue]));
    const words = [span.name, attributes["fairlead.decision"], attributes["error.type"]];
    console.log(`${indent}${words.filter(Boolean).join(" · ")}`);
    print(spans, ({ parentSpanId }) => parentSpanId === span.spanId, `${indent}  `);
  }
}

server.listen(Number(process.argv[2] ?? 4318), "localhost", () => {
  console.log(`listening: http://localhost:${server.address().port}`);
});
