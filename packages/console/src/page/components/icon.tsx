/** The icons: lines of one width on a 16-pixel grid, in the colour of the text beside them. Each stands beside a word. */

import type { VNode } from "preact";

const paths = {
  now: "M2 8.5h3l2-5 3 9 2-4h2",
  inbox: "M2.5 9.5 4.2 3.5h7.6l1.7 6v3h-11zM2.5 9.5h3.2c.3 1.2 1.2 1.8 2.3 1.8s2-.6 2.3-1.8h3.2",
  servers: "M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01",
  add: "M8 3v10M3 8h10",
  tools:
    "M9.6 3.2a3 3 0 0 0-3.5 4L2.6 10.700 5.300 13.400l3.500-3.500a3 3 0 0 0 4-3.500L10.900 8.200 8.500 7.500 7.800 5.100z",
  resources: "M4 2.500h5l3 3v8H4zM9 2.500v3h3",
  prompts: "M2.500 3.500h11v7.500H8l-3 2.500V11H2.500z",
  skills: "M3 3.500c2-.8 3.700-.6 5 .5 1.300-1.100 3-1.300 5-.5v9c-2-.8-3.700-.6-5 .5-1.300-1.100-3-1.300-5-.5zM8 4v9",
  traffic: "M3 5.500h9.500M10 3l2.500 2.500L10 8M13 10.500H3.500M6 8l-2.500 2.500L6 13",
  history: "M8 4.500V8l2.500 1.500M2.800 6.200A5.500 5.500 0 1 1 2.500 8.500M2.500 3.500v3h3",
  policy: "M8 2.200 13 4v4c0 2.800-2 4.900-5 5.800C5 12.900 3 10.800 3 8V4zM5.800 8l1.600 1.600 2.900-3",
  changes: "M8 3v6M5 6h6M5 12.500h6",
  conversations: "M2.500 4h8v5.500H6.200L4 11.500v-2H2.500zM12 6.500h1.500V12h-1.300v1.700L10 12H7.500",
  budget: "M3 13V9M6.300 13V5M9.700 13V7.500M13 13V3",
  search: "M7 2.800a4.200 4.200 0 1 1 0 8.400 4.200 4.200 0 0 1 0-8.400zM10.200 10.200l3.300 3.300",
  copy: "M5.500 5.500h7.500V13H5.500zM3 10.500V3h7.500",
  check: "M3 8.500 6.500 12 13 4.500",
  close: "M4 4l8 8M12 4l-8 8",
  right: "M6 3.500 10.500 8 6 12.500",
  down: "M3.500 6 8 10.500 12.500 6",
  menu: "M2.500 4.500h11M2.500 8h11M2.500 11.500h11",
  sun: "M8 5.200a2.800 2.800 0 1 1 0 5.600 2.800 2.800 0 0 1 0-5.600zM8 1.500v1.300M8 13.200v1.300M1.500 8h1.300M13.200 8h1.300M3.400 3.400l.9.9M11.700 11.700l.9.9M12.600 3.400l-.9.9M4.300 11.700l-.9.9",
  moon: "M13 9.500A5.500 5.500 0 1 1 6.500 3a4.500 4.500 0 0 0 6.500 6.500z",
  system: "M2.500 3h11v7.500h-11zM6 13h4M8 10.500V13",
  outside: "M6.500 3.500h-3v9h9v-3M9 3h4v4M13 3 7.500 8.500",
  play: "M5 3.500 12 8l-7 4.500z",
  pause: "M5.500 3.500v9M10.500 3.500v9",
  stop: "M4 4h8v8H4z",
  again: "M13 8a5 5 0 1 1-1.600-3.700M13 2.500v3h-3",
  sort: "M5 3v10M2.800 10.800 5 13l2.200-2.200M11 13V3M8.800 5.200 11 3l2.200 2.200",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { readonly name: IconName }): VNode {
  return (
    <svg class="icon" width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
