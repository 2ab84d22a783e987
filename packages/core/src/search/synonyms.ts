/** Groups of words that have similar meanings in tool names and tool descriptions. */

import { stemOf } from "./words.ts";

const groups = `
  add append attach insert
  address location place position
  alert notify notification remind reminder warn
  analyze analysis analyse examine inspect evaluate assess
  animate animation video clip movie film
  answer reply respond response
  app application program software
  archive compress zip
  article post blog news story headline
  ask question query
  audio sound voice speech music song
  book novel literature reading
  browse browser web page website site webpage url link
  build compile make
  buy purchase shop shopping order product
  calculate compute calculation math arithmetic evaluate
  calendar schedule event appointment meeting agenda
  cancel abort stop terminate kill
  change modify update edit alter set
  chart graph plot diagram visualize visualization visualise draw
  chat message conversation talk
  check verify validate test confirm
  choose select pick
  clean clear purge
  click press tap
  code source programming script snippet
  combine merge join concatenate
  company business firm corporation enterprise
  compare difference diff
  convert transform translate export
  copy duplicate clone
  count number total sum statistics statistic
  create generate make new produce write build compose
  crypto cryptocurrency bitcoin coin token
  currency money exchange rate
  database sql table db
  date time day today now
  delete remove erase drop destroy
  directory folder
  discover find search lookup locate
  doc document documentation file word report
  download fetch save
  email mail inbox
  execute run launch start invoke perform
  extract parse scrape
  fetch get retrieve obtain read load collect gather
  find search seek lookup look
  flight airline plane airport
  food recipe meal dish cook cooking restaurant
  forecast weather temperature rain climate
  format style font layout
  game play
  health medical medicine disease patient clinical drug
  hotel accommodation stay booking lodging
  image picture photo photograph screenshot figure
  info information detail details data metadata fact
  issue bug ticket problem
  job career employment hiring work
  keyword tag label category
  language translate translation
  law legal
  list show display enumerate all view
  market stock finance financial share equity invest investment trading
  movie film cinema
  open launch
  paper research academic publication scholar study arxiv
  paragraph text passage sentence
  password credential secret login
  people person user member contact
  popular trend trending hot top rank ranking best
  price cost quote
  rename move
  repository repo git github project
  review rating feedback comment
  route direction navigate navigation path distance map
  sheet spreadsheet excel workbook
  slide presentation powerpoint ppt
  sport football basketball match score
  store save keep put persist write output
  student teacher school course lesson learn education
  summarize summary abstract overview digest
  task todo
  terminal shell command console bash
  train railway ticket
  transfer send share upload submit publish
  travel trip journey tour tourism vacation
  video youtube stream watch
  wiki wikipedia encyclopedia
`;

const byStem = new Map<string, Set<string>>();
for (const line of groups.trim().split("\n")) {
  const stems = line.trim().split(" ").map(stemOf);
  for (const stem of stems) {
    const others = byStem.get(stem) ?? new Set();
    for (const other of stems) if (other !== stem) others.add(other);
    byStem.set(stem, others);
  }
}

const none: ReadonlySet<string> = new Set();

/** The stems that have the same meaning as this stem. */
export function synonymsOf(stem: string): ReadonlySet<string> {
  return byStem.get(stem) ?? none;
}
