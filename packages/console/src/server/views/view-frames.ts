/**
 * Serves the pages of views (MCP Apps) at `http://localhost:PORT`: another origin and another site than the console, so
 * that a browser gives them another process. Each page has an address that cannot be guessed, and that works once.
 */

import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "@fairlead/core/clock";
import { objectOf, parseObject, stringOf } from "@fairlead/wire/json";
import type { ViewWishes } from "../../protocol/views.ts";
import { loopback } from "../door/checks.ts";
import { proxyPage } from "./proxy-page.ts";
import { viewPolicy } from "./view-domains.ts";

/** What the browser has stopped a view from doing, by the content security policy. */
export interface StoppedByPolicy {
  /** The directive, such as `connect-src`. */
  readonly directive: string;
  /** The address, or a word such as `inline` or `eval`. */
  readonly blocked: string;
}

export interface FramedView {
  readonly html: string;
  readonly wishes: Pick<ViewWishes, "domains">;
  readonly onStopped: (stopped: StoppedByPolicy) => void;
}

/** A page that can be loaded once. */
export interface OpenFrame extends Disposable {
  readonly address: string;
}

interface Served extends FramedView {
  isLoaded: boolean;
  readonly callOff: () => void;
}

/** Milliseconds within which a page must be loaded. */
const loadTime = 60_000;
const mostPages = 64;
const reportBytes = 16 * 1024;
const receiveTime = 10_000;
/** How often another port is tried if one of the two addresses of `localhost` is in use. */
const mostTries = 20;

/** Nothing of these is given to a view, whatever it asks for. */
const noPermissions = [
  "accelerometer",
  "autoplay",
  "browsing-topics",
  "camera",
  "clipboard-read",
  "clipboard-write",
  "display-capture",
  "encrypted-media",
  "fullscreen",
  "gamepad",
  "geolocation",
  "gyroscope",
  "hid",
  "identity-credentials-get",
  "idle-detection",
  "local-fonts",
  "magnetometer",
  "microphone",
  "midi",
  "otp-credentials",
  "payment",
  "picture-in-picture",
  "publickey-credentials-create",
  "publickey-credentials-get",
  "screen-wake-lock",
  "serial",
  "storage-access",
  "usb",
  "window-management",
  "xr-spatial-tracking",
]
  .map((feature) => `${feature}=()`)
  .join(", ");

export class ViewFrames {
  readonly #clock: Pick<Clock, "after">;
  readonly #pages = new Map<string, Served>();
  readonly #servers: Server[] = [];
  #port = 0;
  /** The origin of the console. */
  #around = "";

  private constructor(clock: Pick<Clock, "after">) {
    this.#clock = clock;
  }

  /** Listens at both addresses of `localhost`, so that no other program can take one of them. */
  static async listen(clock: Pick<Clock, "after">): Promise<ViewFrames> {
    const frames = new ViewFrames(clock);
    for (let tries = 1; ; tries += 1)
      try {
        frames.#port = await frames.#bind(loopback, 0);
        await frames.#bind("::1", frames.#port).catch((error: NodeJS.ErrnoException) => {
          // Without IPv6 there is only one address.
          if (error.code !== "EADDRNOTAVAIL" && error.code !== "EAFNOSUPPORT") throw error;
        });
        return frames;
      } catch (error) {
        await frames.close();
        if (tries === mostTries) throw error;
      }
  }

  /** The origin of the pages. */
  get origin(): string {
    return `http://localhost:${this.#port}`;
  }

  /** Sets the origin of the page that may show the views. */
  showIn(origin: string): void {
    this.#around = origin;
  }

  /** Adds a page. */
  add(view: FramedView): OpenFrame {
    const path = `/${randomBytes(32).toString("base64url")}`;
    const remove = (): void => {
      this.#pages.get(path)?.callOff();
      this.#pages.delete(path);
    };
    const late = (): void => void (this.#pages.get(path)?.isLoaded === false && remove());
    this.#pages.set(path, {
      ...view,
      isLoaded: false,
      callOff: this.#clock.after(loadTime, late, { background: true }),
    });
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > mostPages && oldest !== undefined) this.#pages.delete(oldest);
    return { address: `${this.origin}${path}`, [Symbol.dispose]: remove };
  }

  async close(): Promise<void> {
    for (const { callOff } of this.#pages.values()) callOff();
    this.#pages.clear();
    await Promise.all(
      this.#servers.splice(0).map(async (server) => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }),
    );
  }

  async #bind(host: string, port: number): Promise<number> {
    const server = createServer(
      { maxHeaderSize: 16 * 1024, requestTimeout: receiveTime, headersTimeout: receiveTime },
      (request, response) => this.#handle(request, response),
    );
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host, port, exclusive: true, ipv6Only: true }, resolve);
    });
    server.removeAllListeners("error").on("error", () => {});
    // The console's own listener keeps the process.
    server.unref();
    this.#servers.push(server);
    return (server.address() as AddressInfo).port;
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    const { method, url = "/", headers } = request;
    const [path, isReport] = splitReport(url);
    const page = headers.host === `localhost:${this.#port}` ? this.#pages.get(path) : undefined;
    const destination = headers["sec-fetch-dest"];
    const isLoading = method === "GET" && (destination === undefined || destination === "iframe");
    if (page !== undefined && isReport && method === "POST") {
      takeReport(request, response, page);
      return;
    }
    if (page === undefined || isReport || !isLoading || page.isLoaded) {
      refuse(request, response);
      return;
    }
    page.isLoaded = true;
    page.callOff();
    request.resume();
    const body = Buffer.from(proxyPage(page.html, this.#around));
    response.writeHead(200, {
      "content-type": "text/html; charset=utf-8",
      "content-length": body.length,
      "content-security-policy": viewPolicy(page.wishes, this.#around, `${this.origin}${path}/report`),
      "permissions-policy": noPermissions,
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    });
    response.end(body);
  }
}

function splitReport(url: string): readonly [path: string, isReport: boolean] {
  const end = "/report";
  return url.endsWith(end) ? [url.slice(0, -end.length), true] : [url, false];
}

function refuse(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  response.writeHead(404, {
    "content-type": "text/plain; charset=utf-8",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    connection: "close",
  });
  response.end("there is nothing at this address\n");
}

/** Reads what the browser reports. A view cannot send a report itself, but it can cause many. */
function takeReport(request: IncomingMessage, response: ServerResponse, page: Served): void {
  const chunks: Buffer[] = [];
  let size = 0;
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= reportBytes) chunks.push(chunk);
  });
  request.on("end", () => {
    response.writeHead(204, { "cache-control": "no-store" }).end();
    const report = objectOf(parseObject(Buffer.concat(chunks).toString("utf8"))?.["csp-report"]);
    const directive = stringOf(report["effective-directive"]) ?? stringOf(report["violated-directive"]);
    if (size > reportBytes || directive === undefined) return;
    page.onStopped({
      directive: directive.slice(0, 100),
      blocked: (stringOf(report["blocked-uri"]) ?? "").slice(0, 500),
    });
  });
}
