// The conformance server over streamable HTTP on the loopback address, in both protocol eras.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { text as readText } from "node:stream/consumers";
import { createConnection } from "./connection.mjs";
import { checkHeaders, eraOfPost } from "./header-check.mjs";
import { codes, errorBody, isObject, RpcError } from "./rpc-error.mjs";

const sessionHeader = "mcp-session-id";
/** HTTP status by error code, in the modern era. */
const statuses = new Map([
  [codes.headerMismatch, 400],
  [codes.missingCapability, 400],
  [codes.unsupportedVersion, 400],
  [codes.invalidParams, 400],
  [codes.methodNotFound, 404],
]);

/** Starts the server. Resolves with the address of its endpoint. */
export async function listen({ catalog, eras }) {
  /** Sessions of the legacy era, by id. */
  const sessions = new Map();

  function createSession() {
    const id = randomUUID();
    /** Responses to POST requests, by the id of the JSON-RPC request. */
    const posts = new Map();
    const session = { id, posts, stream: undefined };
    session.connection = createConnection({
      catalog,
      eras: ["legacy"],
      send(message, about) {
        const stream = posts.get(about) ?? session.stream;
        if (stream) writeEvent(stream, message);
        if (message.method === undefined) posts.get(message.id)?.end();
      },
    });
    sessions.set(id, session);
    return session;
  }

  function takeLegacy(message, { headers }, response) {
    const session = message.method === "initialize" ? createSession() : sessions.get(headers[sessionHeader]);
    if (session === undefined) return end(response, headers[sessionHeader] === undefined ? 400 : 404);
    const { connection, posts, id } = session;
    if (message.method === undefined || message.id === undefined) {
      connection.take(message);
      return end(response, 202);
    }
    posts.set(message.id, response);
    beginEvents(response, { [sessionHeader]: id });
    connection.take(message);
  }

  function takeModern(message, { headers }, response) {
    if (message.id === undefined) return end(response, 202);
    const refuse = (error) => sendJson(response, { jsonrpc: "2.0", id: message.id, error: errorBody(error) });
    try {
      checkHeaders(message, headers, catalog.tools());
    } catch (error) {
      return refuse(error);
    }
    const connection = createConnection({
      catalog,
      eras: ["modern"],
      send(sent) {
        const isLast = sent.method === undefined;
        if (isLast && !response.headersSent) return sendJson(response, sent);
        if (!response.headersSent) beginEvents(response);
        writeEvent(response, sent);
        if (isLast) response.end();
      },
    });
    // The response closes when it is complete, or when the client disconnects.
    response.on("close", () => connection.close());
    connection.take(message);
  }

  async function takePost(request, response) {
    const message = parse(await readText(request));
    if (!isObject(message)) return end(response, 400);
    const era = eraOfPost(message, request.headers);
    if (eras.includes(era)) return (era === "modern" ? takeModern : takeLegacy)(message, request, response);
    const error = new RpcError(codes.unsupportedVersion, "the protocol version is not supported");
    sendJson(response, { jsonrpc: "2.0", id: message.id ?? null, error: errorBody(error) });
  }

  function handle(request, response) {
    const { method, headers, url } = request;
    if (!isLocal(headers)) return end(response, 403);
    if (url !== "/mcp") return end(response, 404);
    if (method === "POST") return void takePost(request, response);
    if (headers[sessionHeader] === undefined) return end(response, 405);
    const session = sessions.get(headers[sessionHeader]);
    if (session === undefined) return end(response, 404);
    if (method === "GET") {
      session.stream = response;
      return beginEvents(response, { [sessionHeader]: session.id });
    }
    sessions.delete(session.id);
    session.connection.close();
    session.stream?.end();
    end(response, 200);
  }

  const server = createServer({ keepAliveTimeout: 0 }, handle);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://localhost:${server.address().port}/mcp`;
}

function isLocal({ host = "", origin }) {
  const isLoopback = (name) => /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(name);
  return isLoopback(host) && (origin === undefined || isLoopback(origin.replace(/^https?:\/\//, "")));
}

function parse(body) {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function beginEvents(response, headers = {}) {
  response.writeHead(200, { ...headers, "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.flushHeaders();
}

function writeEvent(response, message) {
  response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}

function sendJson(response, message) {
  const status = statuses.get(message.error?.code) ?? 200;
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(message));
}

function end(response, status) {
  response.writeHead(status, { "content-length": 0 }).end();
}
