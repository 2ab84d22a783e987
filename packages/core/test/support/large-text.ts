/** Three megabytes of JSON that differ from one number to the next from end to end. */
export function largeText(index: number): string {
  const line = `"${String(index % 10).repeat(1000)}"`;
  return `{ "index": ${index}, "lines": [${Array.from({ length: 3000 }, () => line).join(",")}] }`;
}
