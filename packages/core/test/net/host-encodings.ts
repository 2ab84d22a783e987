/** Ways to write down hosts that must not be asked, some older than the web. */

/** Private and reserved addresses; the second line is what clouds tell their machines, and only them. */
export const specialAddresses: readonly string[] =
  `
  127.0.0.1 127.8.9.10 0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.254 172.16.0.1 172.31.255.254
  169.254.169.254 169.254.170.2 100.100.100.200 192.0.0.192
  192.168.0.1 192.168.178.1 100.64.0.1 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255`.match(/\S+/g) ?? [];

export const specialAddresses6: readonly string[] =
  `
  :: ::1 fe80::1 febf::1 fc00::1 fdff::1 fd00:ec2::254 ff02::1 fec0::1 100::1
  2001:db8::1 2001:10::1 2001:20::1 3fff::1 4000::1 5f00::1 64:ff9b:1::1 1::1 e000::1`.match(/\S+/g) ?? [];

type Octets = readonly [number, number, number, number];

const hex = (value: number, digits = 0): string => value.toString(16).padStart(digits, "0");
const octal = (value: number): string => `0${value.toString(8)}`;
const shifted = (text: string, by: number): string =>
  text.replaceAll(/\d/g, (digit) => String.fromCodePoint(digit.charCodeAt(0) + by));

/** As numbers: the last one stands for all bytes that are left. */
const parts = ([a, b, c, d]: Octets): readonly (readonly number[])[] => [
  [a, b, c, d],
  [a, b, c * 256 + d],
  [a, (b * 256 + c) * 256 + d],
  [((a * 256 + b) * 256 + c) * 256 + d],
];

function numeric(octets: Octets): readonly string[] {
  const writers = [String, octal, (n: number) => `0x${hex(n)}`, (n: number) => `0X${hex(n, 8).toUpperCase()}`];
  const uniform = parts(octets).flatMap((numbers) => writers.map((write) => numbers.map(write).join(".")));
  const [a, b, c, d] = octets;
  return [...uniform, `${a}.${octal(b)}.0x${hex(c)}.${d}`, `0x${hex(a)}.${b}.${octal(c * 256 + d)}`];
}

function typographic(dotted: string): readonly string[] {
  return [
    `${dotted}.`,
    dotted.replaceAll(".", "。"),
    dotted.replaceAll(".", "%2e"),
    shifted(dotted, 0xff10 - 0x30),
    shifted(dotted, 0x1d7d8 - 0x30),
    dotted.replaceAll(/./g, (character) => `%${hex(character.charCodeAt(0), 2)}`),
    // The host begins after the last of these, whatever stands before.
    `example.com@${dotted}`,
    `example.com:443@${dotted}`,
  ];
}

function inIpv6(octets: Octets): readonly string[] {
  const [a, b, c, d] = octets;
  const dotted = octets.join(".");
  const high = hex(a * 256 + b, 4);
  const low = hex(c * 256 + d, 4);
  const inverted = `${hex(0xffff - (a * 256 + b), 4)}:${hex(0xffff - (c * 256 + d), 4)}`;
  return [
    `::ffff:${dotted}`,
    `::FFFF:${high}:${low}`,
    `0:0:0:0:0:ffff:${high}:${low}`,
    `0000:0000:0000:0000:0000:ffff:${dotted}`,
    `::${dotted}`,
    `::${high}:${low}`,
    `::ffff:0:${dotted}`,
    `64:ff9b::${dotted}`,
    `64:ff9b:1::${dotted}`,
    `2002:${high}:${low}::`,
    `2002:${high}:${low}::1`,
    `2001:0:${high}:${low}::${inverted}`,
  ].map((address) => `[${address}]`);
}

function expanded(address: string): string {
  const [head = "", tail = ""] = address.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  return [...before, ...zeros, ...after].map((part) => part.padStart(4, "0")).join(":");
}

/** Hosts as they may stand in an address. */
export function hostEncodings(): readonly string[] {
  const four = specialAddresses.flatMap((dotted) => {
    const octets = dotted.split(".").map(Number) as [number, number, number, number];
    return [...numeric(octets), ...typographic(dotted), ...inIpv6(octets)];
  });
  const six = specialAddresses6.flatMap((address) => [address, address.toUpperCase(), expanded(address)]);
  return [...new Set([...four, ...six.map((address) => `[${address}]`)])];
}
