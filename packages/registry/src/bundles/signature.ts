/**
 * Reads the signature that may follow the zip file of a bundle, and checks that it belongs to exactly these bytes. Who
 * issued the certificate is not checked: Node knows the authorities for web servers, not those for programs.
 */

import { createHash, verify, X509Certificate } from "node:crypto";

/** What is known of a bundle's signature. */
export type BundleSignature =
  | { readonly kind: "unsigned" }
  /** The signature does not belong to these bytes, or cannot be read. */
  | { readonly kind: "broken"; readonly reason: string }
  /** The bytes are as the owner of this certificate has signed them. Who that is, the certificate only claims. */
  | {
      readonly kind: "signed";
      readonly subject: string;
      readonly issuer: string;
      readonly isSelfSigned: boolean;
      /** The certificate is valid at `now`. */
      readonly isInForce: boolean;
      /** SHA-256 of the certificate. */
      readonly fingerprint: string;
    };

const header = Buffer.from("MCPB_SIG_V1");
const footer = Buffer.from("MCPB_SIG_END");
const maxSignatureBytes = 1024 * 1024;

/** Splits a bundle into its zip file and the signature behind it. */
export function splitSignature(bytes: Buffer): { readonly zip: Buffer; readonly signature: Buffer | undefined } {
  const end = bytes.length - footer.length;
  if (end < 0 || !bytes.subarray(end).equals(footer)) return { zip: bytes, signature: undefined };
  const lowest = Math.max(0, end - maxSignatureBytes);
  for (let at = bytes.lastIndexOf(header, end); at >= lowest; at = at === 0 ? -1 : bytes.lastIndexOf(header, at - 1)) {
    const begin = at + header.length + 4;
    if (begin <= end && bytes.readUInt32LE(begin - 4) === end - begin)
      return { zip: bytes.subarray(0, at), signature: bytes.subarray(begin, end) };
  }
  return { zip: bytes, signature: undefined };
}

/** Checks the signature of a zip file. */
export function checkSignature(zip: Buffer, signature: Buffer | undefined, now: Date = new Date()): BundleSignature {
  if (signature === undefined) return { kind: "unsigned" };
  try {
    return check(zip, signature, now);
  } catch (error) {
    return { kind: "broken", reason: error instanceof Broken ? error.message : "it cannot be read" };
  }
}

class Broken extends Error {}

const oids = { signedData: "2a864886f70d010702", messageDigest: "2a864886f70d010904" };
/** The digests that a signature may use, by their object identifier in hexadecimal. */
const digests = new Map([
  ["608648016503040201", "sha256"],
  ["608648016503040202", "sha384"],
  ["608648016503040203", "sha512"],
]);

function check(zip: Buffer, der: Buffer, now: Date): BundleSignature {
  const content = readItem(der, 0);
  const [type, wrapped] = itemsIn(content);
  if (type?.value.toString("hex") !== oids.signedData || wrapped === undefined) throw new Broken("it is no PKCS#7");
  const [signedData] = itemsIn(wrapped);
  const parts = signedData === undefined ? [] : itemsIn(signedData);
  const certificates = parts
    .filter(({ tag }) => tag === 0xa0)
    .flatMap(itemsIn)
    .map(({ whole }) => new X509Certificate(whole));
  const [signer] = itemsIn(parts.at(-1) as Item);
  if (signer === undefined) throw new Broken("it has no signature");
  const fields = itemsIn(signer);
  const [, identifier, algorithm, attributes] = fields;
  const value = fields.find(({ tag }) => tag === 0x04);
  if (identifier === undefined || algorithm === undefined || attributes?.tag !== 0xa0 || value === undefined)
    throw new Broken("it has no signed attributes");
  const digest = digests.get(itemsIn(algorithm)[0]?.value.toString("hex") ?? "");
  if (digest === undefined) throw new Broken("it uses a digest that Fairlead does not accept");

  const signed = itemsIn(attributes).find((one) => itemsIn(one)[0]?.value.toString("hex") === oids.messageDigest);
  const expected = signed && itemsIn(itemsIn(signed)[1] as Item)[0]?.value;
  if (expected === undefined || !createHash(digest).update(zip).digest().equals(expected))
    throw new Broken("the bundle was changed after it was signed");

  const serial = itemsIn(identifier)[1]?.value.toString("hex").replace(/^0+/, "").toUpperCase();
  const certificate = certificates.find((one) => one.serialNumber.replace(/^0+/, "") === serial);
  if (certificate === undefined) throw new Broken("the certificate of the signer is missing");
  // What was signed are the attributes as a SET, which they are written as a part of.
  const attributeSet = Buffer.concat([Buffer.from([0x31]), attributes.whole.subarray(1)]);
  if (!verify(digest, attributeSet, certificate.publicKey, value.value))
    throw new Broken("it does not belong to its certificate");
  return {
    kind: "signed",
    subject: commonName(certificate.subject),
    issuer: commonName(certificate.issuer),
    isSelfSigned: certificate.subject === certificate.issuer && certificate.verify(certificate.publicKey),
    isInForce: new Date(certificate.validFrom) <= now && now <= new Date(certificate.validTo),
    fingerprint: createHash("sha256").update(certificate.raw).digest("hex"),
  };
}

function commonName(subject: string): string {
  return /^CN=(.+)$/m.exec(subject)?.[1] ?? subject.replaceAll("\n", ", ");
}

/** One item of DER: its tag, its value, and both together. */
interface Item {
  readonly tag: number;
  readonly value: Buffer;
  readonly whole: Buffer;
}

function readItem(bytes: Buffer, at: number): Item {
  const tag = bytes.readUInt8(at);
  const first = bytes.readUInt8(at + 1);
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  if (lengthBytes > 4 || first === 0x80) throw new Broken("it is no DER");
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes);
  const begin = at + 2 + lengthBytes;
  if (begin + length > bytes.length) throw new Broken("it is cut off");
  return { tag, value: bytes.subarray(begin, begin + length), whole: bytes.subarray(at, begin + length) };
}

function itemsIn({ value }: Item): readonly Item[] {
  const items: Item[] = [];
  for (let at = 0; at < value.length; ) {
    const item = readItem(value, at);
    items.push(item);
    at += item.whole.length;
  }
  return items;
}
