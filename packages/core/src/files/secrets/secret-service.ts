/**
 * Asks D-Bus whether a Secret Service exists, with a timeout. The keyring library connects synchronously: if D-Bus did
 * not answer, it would block the whole process (docs/adr/0024).
 */

import { connect, type Socket } from "node:net";
import { type Clock, systemClock } from "../../clock.ts";

const timeLimit = 2_000;
const maxBytes = 64 * 1024;
const serials = { hello: 1, hasOwner: 2, start: 3 } as const;
const service = textArgument("org.freedesktop.secrets");

/** Whether a Secret Service runs or can be started. Starts it if necessary. */
export async function hasSecretService(address: string | undefined, clock: Clock = systemClock): Promise<boolean> {
  const path = socketPath(address ?? "");
  if (path === undefined) return false;
  const socket = connect({ path });
  const callOff = clock.after(timeLimit, () => socket.destroy());
  try {
    return await ask(socket);
  } catch {
    return false; // No bus, or one that hung up or talks nonsense: for our purpose the same as none.
  } finally {
    callOff();
    socket.destroy();
  }
}

async function ask(socket: Socket): Promise<boolean> {
  let isWelcome = false;
  let received = Buffer.alloc(0);
  const user = Buffer.from(String(process.getuid?.() ?? 0)).toString("hex");
  socket.write(`\0AUTH EXTERNAL ${user}\r\n`);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    received = Buffer.concat([received, chunk]);
    if (received.length > maxBytes) return false;
    if (!isWelcome) {
      const end = received.indexOf("\r\n");
      if (end === -1) continue;
      if (!received.toString("latin1").startsWith("OK ")) return false;
      received = received.subarray(end + 2);
      isWelcome = true;
      socket.write("BEGIN\r\n");
      socket.write(busCall(serials.hello, "Hello"));
      socket.write(busCall(serials.hasOwner, "NameHasOwner", "s", service));
    }
    for (let message = readBusMessage(received); message !== undefined; message = readBusMessage(received)) {
      received = received.subarray(message.length);
      if (message.replyTo === serials.start) return message.isReturn;
      if (message.replyTo !== serials.hasOwner) continue;
      if (message.isReturn && message.body.some((byte) => byte !== 0)) return true;
      const body = Buffer.concat([service, uint32(0)]);
      socket.write(busCall(serials.start, "StartServiceByName", "su", body));
    }
  }
  return false;
}

/** The path of the first Unix socket in a list of bus addresses: `unix:path=/run/user/1000/bus,guid=…;…`. */
function socketPath(address: string): string | undefined {
  for (const candidate of address.split(";")) {
    const match = /^unix:(?:.*,)?(path|abstract)=([^,]+)/.exec(candidate);
    if (match?.[2] !== undefined) return `${match[1] === "abstract" ? "\0" : ""}${decoded(match[2])}`;
  }
  return undefined;
}

function decoded(text: string): string {
  return text.replaceAll(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

interface BusMessage {
  /** True for a method return; false for an error or a signal. */
  readonly isReturn: boolean;
  /** The serial number of the call that this message answers. */
  readonly replyTo: number | undefined;
  readonly body: Buffer;
  readonly length: number;
}

const bus = "org.freedesktop.DBus";
const types = { call: 1, return: 2 } as const;
const fields = { path: 1, interface: 2, member: 3, replySerial: 5, destination: 6, signature: 8 } as const;
const letters = { u: "u".charCodeAt(0), g: "g".charCodeAt(0) } as const;
/** The offset of the first header field in a message. */
const fieldsStart = 16;
/** Each header field and the body begin at a multiple of this many bytes. */
const alignment = 8;

function busCall(serial: number, member: string, signature?: string, body: Buffer = Buffer.alloc(0)): Buffer {
  const given = [
    headerField(fields.path, "o", "/org/freedesktop/DBus"),
    headerField(fields.interface, "s", bus),
    headerField(fields.member, "s", member),
    headerField(fields.destination, "s", bus),
  ];
  if (signature !== undefined) given.push(headerField(fields.signature, "g", signature));
  const header = given.reduce((all, next) => Buffer.concat([padded(all, alignment), next]));
  const start = Buffer.from([0x6c /* "l": little-endian */, types.call, 0 /* no flags */, 1 /* version */]);
  const message = Buffer.concat([start, uint32(body.length), uint32(serial), uint32(header.length), header]);
  return Buffer.concat([padded(message, alignment), body]);
}

/** Decodes the first message; undefined if it is incomplete. */
export function readBusMessage(buffer: Buffer): BusMessage | undefined {
  if (buffer.length < fieldsStart) return undefined;
  const read = (offset: number) => (buffer[0] === 0x6c ? buffer.readUInt32LE(offset) : buffer.readUInt32BE(offset));
  const fieldsEnd = fieldsStart + read(12);
  const bodyStart = aligned(fieldsEnd, alignment);
  const length = bodyStart + read(4);
  if (buffer.length < length) return undefined;
  let replyTo: number | undefined;
  let offset = fieldsStart;
  while (offset < fieldsEnd) {
    const [code, , type] = buffer.subarray(offset);
    const value = offset + 4;
    if (code === fields.replySerial) replyTo = read(value);
    /*
     * The value is a number, a signature or a text. A signature begins with its length in 1 byte, a text with its
     * length in 4 bytes. Both end with a zero byte.
     */
    const size = type === letters.u ? 4 : type === letters.g ? buffer.readUInt8(value) + 2 : read(value) + 5;
    offset = aligned(value + size, alignment);
  }
  return { isReturn: buffer[1] === types.return, replyTo, body: buffer.subarray(bodyStart, length), length };
}

function textArgument(text: string): Buffer {
  return padded(Buffer.concat([uint32(text.length), Buffer.from(`${text}\0`)]), 4);
}

function uint32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
}

function headerField(code: number, type: "o" | "s" | "g", value: string): Buffer {
  const length = type === "g" ? Buffer.from([value.length]) : uint32(value.length);
  return Buffer.concat([Buffer.from([code, 1, type.charCodeAt(0), 0]), length, Buffer.from(`${value}\0`)]);
}

function padded(buffer: Buffer, to: number): Buffer {
  return Buffer.concat([buffer, Buffer.alloc(aligned(buffer.length, to) - buffer.length)]);
}

function aligned(offset: number, to: number): number {
  return Math.ceil(offset / to) * to;
}
