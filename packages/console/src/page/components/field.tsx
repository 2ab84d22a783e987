/** Labelled inputs, with a hint before and an error after the value, both tied to the input for a screen reader. */

import type { ComponentChildren, VNode } from "preact";
import { useId } from "preact/hooks";
import { Icon } from "./icon.tsx";
import { visibleText } from "./text.tsx";

/** What an input needs of its field. */
export interface FieldIds {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": true | undefined;
  readonly "aria-required": true | undefined;
}

export interface FieldProps {
  readonly label: ComponentChildren;
  readonly hint?: ComponentChildren;
  readonly error?: ComponentChildren;
  readonly isRequired?: boolean;
  /** Shows the input: spread the ids into it. */
  readonly children: (ids: FieldIds) => ComponentChildren;
}

export function Field({ label, hint, error, isRequired = false, children }: FieldProps): VNode {
  const id = useId();
  const described = [hint === undefined ? [] : `${id}-hint`, error === undefined ? [] : `${id}-error`].flat();
  return (
    <div class={`field ${error === undefined ? "" : "field-wrong"}`}>
      <div class="field-head">
        <label for={id}>
          {label}
          {isRequired && <span class="field-required">required</span>}
        </label>
        {hint !== undefined && (
          <div class="field-hint" id={`${id}-hint`}>
            {hint}
          </div>
        )}
      </div>
      {children({
        id,
        "aria-describedby": described.length === 0 ? undefined : described.join(" "),
        "aria-invalid": error === undefined ? undefined : true,
        "aria-required": isRequired || undefined,
      })}
      {error !== undefined && (
        <div class="field-error" id={`${id}-error`}>
          {error}
        </div>
      )}
    </div>
  );
}

export interface SearchInputProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly placeholder?: string;
}

/** An input that filters what is below it. */
export function SearchInput({ label, value, onChange, placeholder }: SearchInputProps): VNode {
  return (
    <div class="search-input">
      <Icon name="search" />
      <input
        type="search"
        aria-label={label}
        placeholder={placeholder ?? label}
        value={value}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </div>
  );
}

export interface SelectProps<V extends string> {
  readonly label: string;
  readonly value: V;
  readonly options: readonly { readonly value: V; readonly text: string }[];
  readonly onChange: (value: V) => void;
}

/** A choice of few values, in a toolbar. */
export function Select<V extends string>({ label, value, options, onChange }: SelectProps<V>): VNode {
  return (
    <select
      class="select"
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => {
        const chosen = options.find((option) => option.value === currentTarget.value);
        if (chosen !== undefined) onChange(chosen.value);
      }}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {visibleText(option.text, false, true)}
        </option>
      ))}
    </select>
  );
}

export interface FilterChipsProps<V extends string> {
  readonly label: string;
  readonly chips: readonly { readonly value: V; readonly text: string; readonly count?: number | undefined }[];
  readonly value: V;
  readonly onChange: (value: V) => void;
}

/** Chooses what a list shows, each with its count. */
export function FilterChips<V extends string>({ label, chips, value, onChange }: FilterChipsProps<V>): VNode {
  return (
    <fieldset class="chips" aria-label={label}>
      {chips.map((chip) => (
        <button
          key={chip.value}
          type="button"
          class="chip"
          aria-pressed={chip.value === value}
          onClick={() => onChange(chip.value)}
        >
          {chip.text}
          {chip.count !== undefined && <span class="chip-count">{chip.count}</span>}
        </button>
      ))}
    </fieldset>
  );
}
