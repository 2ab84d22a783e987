/** Times. An age ticks with all others on the page, and tells the exact time when it is pointed at. */

import type { VNode } from "preact";
import { useNow } from "../app.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Returns a duration in its largest unit: `12 s`, `4 min`, `3 h`, `2 d`. */
export function durationText(milliseconds: number): string {
  const time = Math.max(0, milliseconds);
  if (time < minute) return `${Math.floor(time / 1000)} s`;
  if (time < hour) return `${Math.floor(time / minute)} min`;
  if (time < day) return `${Math.floor(time / hour)} h`;
  return `${Math.floor(time / day)} d`;
}

/** Returns how long something took: `8 ms`, `1.2 s`, `3 min`. */
export function tookText(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < minute) return `${(milliseconds / 1000).toFixed(1)} s`;
  return durationText(milliseconds);
}

/** How long ago a moment was. */
export function Age({ since, suffix = "" }: { readonly since: number; readonly suffix?: string }): VNode {
  const now = useNow();
  return (
    <time class="age" dateTime={new Date(since).toISOString()} title={timeText(since)}>
      {durationText(now - since)}
      {suffix}
    </time>
  );
}

/** The time until a moment: `4:48`, or `8 s` below ten seconds. */
export function Countdown({ until }: { readonly until: number }): VNode {
  const now = useNow();
  return (
    <time class="age" dateTime={new Date(until).toISOString()} title={timeText(until)}>
      {countdownText(until - now)}
    </time>
  );
}

export function countdownText(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds >= 3600) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** A moment in the person's own time zone, with the date: `2026-11-18 20:24:53`. */
export function timeText(moment: number): string {
  const date = new Date(moment);
  const two = (value: number): string => String(value).padStart(2, "0");
  const [year, month, day] = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return `${year}-${two(month)}-${two(day)} ${clockText(moment)}`;
}

/** A moment's time of day: `20:24:53`. */
export function clockText(moment: number): string {
  return new Date(moment).toLocaleTimeString("en-GB");
}
