
"use strict";
// The live page. Data is only ever inserted as text, never as markup.

const EVERY = 1000, PATIENCE = 5000;
const STALLED = 30;        // seconds without an epoch or a report after which a job is stalled
const LATELY = 5;          // seconds that count as recent
const KEPT = 120;          // snapshots that curves show
const DECISIONS = 500;     // decisions that the page keeps
const KINDS = ["shared", "split", "merged", "continued"];

const $ = (id) => document.getElementById(id);
const moments = [];        // snapshots of the last minutes, the newest last
const entries = new Map(); // decisions by key, the newest last
let drawn = null, pictures = {}, sorting = ["p95", true];

// ---- formatting ---------------------------------------------------------------------------

function make(tag, text, look) {
  const node = document.createElement(tag);
  if (text !== undefined && text !== null) node.textContent = text;
  if (look) node.className = look;
  return node;
}

const count = (n) => Math.round(n).toLocaleString("en-US");
const rate = (n) => n === null ? "–" : n >= 10 ? count(n) : n.toFixed(1);
const percent = (x) => x === null || x === undefined ? "–" : (100 * x).toFixed(x > 0.0995 ? 0 : 1) + "%";

function bytes(n) {
  for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]])
    if (n >= size) return (n / size).toFixed(1) + " " + unit;
  return count(n) + " B";
}

function seconds(s) {
  if (s === null || s === undefined) return "–";
  if (s < 1e-3) return (s * 1e6).toFixed(0) + " µs";
  if (s < 1) return (s * 1e3).toFixed(s < 0.01 ? 1 : 0) + " ms";
  if (s < 120) return s.toFixed(s < 10 ? 2 : 1) + " s";
  return s < 7200 ? (s / 60).toFixed(1) + " min" : (s / 3600).toFixed(1) + " h";
}

function nanoseconds(n) {
  return Math.abs(n) < 1e4 ? count(n) + " ns" : seconds(n / 1e9);
}

function clock(time) {
  return new Date(1000 * time).toLocaleTimeString("en-GB");
}

// Event time in microseconds, of any year.
function streamTime(micros) {
  if (micros === null) return "–";
  const date = new Date(micros / 1000);
  return isNaN(date) ? count(micros) + " µs" : date.toISOString().replace("T", " ").replace("Z", "").slice(0, 19);
}

// ---- recent changes --------------------------------------------------------------------------

// Snapshots hold totals: what happened recently is the difference of two of them.
function before(age) {
  const now = moments[moments.length - 1];
  let found = moments[0];
  for (const each of moments) if (now.time - each.time >= age) found = each;
  return found;
}

function lately(total, age) {
  const now = moments[moments.length - 1], then = before(age);
  return now.time > then.time ? (total(now) - total(then)) / (now.time - then.time) : null;
}

function decidedLately() {
  const now = moments[moments.length - 1], then = before(LATELY), found = [];
  for (const group of now.groups) {
    const old = then.groups.find((g) => g.over === group.over && String(g.queries) === String(group.queries));
    for (const type of group.types) {
      const was = old && then !== now ? old.types.find((t) => t.type === type.type) : null;
      const counts = {}; let all = 0;
      for (const kind of KINDS) all += counts[kind] = type[kind] - (was ? was[kind] : 0);
      found.push({ group, type: type.type, counts, all });
    }
  }
  return found;
}

// ---- tables -------------------------------------------------------------------------------

// Rows are reused as long as their keys exist, so that nothing jumps under the pointer.
function table(id, columns, rows, none) {
  const [head, body] = [$(id).tHead, $(id).tBodies[0]];
  if (!head.rows.length) {
    const row = head.insertRow();
    for (const each of columns) {
      const cell = make("th", each.sort ? null : each.name, each.text ? "" : "number");
      cell.scope = "col";
      if (each.sort) {
        const button = make("button", each.name);
        button.type = "button";
        button.onclick = () => { sorting = [each.sort, sorting[0] === each.sort ? !sorting[1] : !each.text]; show(); };
        cell.dataset.sort = each.sort;
        cell.append(button);
      }
      row.append(cell);
    }
  }
  for (const cell of head.querySelectorAll("[data-sort]"))
    if (cell.dataset.sort === sorting[0]) cell.setAttribute("aria-sort", sorting[1] ? "descending" : "ascending");
    else cell.removeAttribute("aria-sort");
  const known = new Map([...body.rows].map((row) => [row.dataset.key, row]));
  const wanted = rows.map(([key, values]) => {
    let row = known.get(key);
    if (!row) {
      row = document.createElement("tr");
      row.dataset.key = key;
      for (const each of columns) row.append(make("td", "", each.text ? "" : "number"));
    }
    values.forEach((value, n) => {
      const cell = row.cells[n];
      if (value instanceof Element) cell.replaceChildren(value);
      else if (cell.textContent !== String(value)) cell.textContent = value;
    });
    return row;
  });
  if (!wanted.length && none) {
    const row = document.createElement("tr"), cell = make("td", none, "none");
    cell.colSpan = columns.length;
    row.append(cell);
    wanted.push(row);
  }
  if (wanted.length !== body.rows.length || wanted.some((row, n) => row !== body.rows[n]))
    body.replaceChildren(...wanted);
}

function tiles(id, pairs) {
  const list = $(id), known = new Map([...list.children].map((each) => [each.dataset.name, each]));
  list.replaceChildren(...pairs.map(([name, value, why]) => {
    let tile = known.get(name);
    if (!tile) {
      tile = make("div");
      tile.dataset.name = name;
      tile.append(make("dt", name), make("dd"));
      if (why) tile.title = why;
    }
    if (tile.lastChild.textContent !== value) tile.lastChild.textContent = value;
    return tile;
  }));
}

// There is a gap where nothing was measured.
function spark(values, width, height, said, into) {
  const svg = into || document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const most = Math.max(...values.filter((v) => v !== null), 0) || 1;
  const x = (n) => (width * n / Math.max(values.length - 1, 1)).toFixed(1);
  const y = (v) => (height - 1 - (height - 3) * v / most).toFixed(1);
  const runs = [[]];
  values.forEach((v, n) => v === null ? runs.push([]) : runs[runs.length - 1].push([n, v]));
  const nodes = runs.filter((run) => run.length).map((run) => {
    const tag = run.length > 1 ? "polyline" : "circle";
    const node = document.createElementNS(svg.namespaceURI, tag);
    if (run.length > 1) node.setAttribute("points", run.map(([n, v]) => x(n) + "," + y(v)).join(" "));
    else { node.setAttribute("cx", x(run[0][0])); node.setAttribute("cy", y(run[0][1])); node.setAttribute("r", 1.5); }
    return node;
  });
  if (!into) {
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("class", "spark");
    svg.setAttribute("role", "img");
  }
  svg.setAttribute("aria-label", said);
  const title = document.createElementNS(svg.namespaceURI, "title");
  title.textContent = said;
  svg.replaceChildren(title, ...nodes);
  return svg;
}

// ---- parts of the page --------------------------------------------------------------------

function showState(state, said) {
  $("state").dataset.state = state;
  if ($("state").textContent !== said) $("state").textContent = said;
}

// Ages are those at the server's clock now, whenever the snapshot was made: if the driver hangs,
// there is no other snapshot.
function showProgress(snapshot) {
  const silence = snapshot.reported === null ? 0 : snapshot.now - snapshot.reported;
  const age = snapshot.now - snapshot.time, work = snapshot.backlog > 0 || snapshot.in_flight > 0;
  if (snapshot.finished) showState("finished", "finished");
  else if (silence > STALLED) showState("stalled", `the driver has been silent for ${seconds(silence)}`);
  else if (age <= STALLED) showState("running", "running");
  else if (work) showState("stalled", `stalled: no epoch for ${seconds(age)}, although there is work`);
  else showState("running", `running; no epoch for ${seconds(age)}`);
}

function showNow(snapshot) {
  $("job").textContent = snapshot.job;
  document.title = snapshot.job + " · Hamlet";
  $("since").textContent = `engine ${snapshot.engine}, ${snapshot.workload} ${snapshot.workload === 1 ? "query" : "queries"}, since ${clock(snapshot.began)}; updated ${clock(snapshot.time)}`;
  const invalid = Object.values(snapshot.invalid_rows).reduce((a, b) => a + b, 0);
  const all = decidedLately().reduce((a, each) => [a[0] + each.all, a[1] + each.counts.split], [0, 0]);
  const behind = snapshot.watermark === null || snapshot.newest === null ? null : (snapshot.newest - snapshot.watermark) / 1e6;
  const restarts = Object.values(snapshot.restarts).reduce((a, b) => a + b, 0);
  tiles("tiles", [
    ["events/s", snapshot.finished ? "ended" : rate(lately((f) => f.events, LATELY)), "in the last seconds"],
    ["events", count(snapshot.events)],
    ["results", count(snapshot.results)],
    ["windows closed", count(snapshot.windows)],
    ["bursts shared", all[0] ? percent((all[0] - all[1]) / all[0]) : "–", "in the last seconds"],
    ["lag", seconds(behind), "how far the watermark is behind the newest event, in event time"],
    ["watermark", streamTime(snapshot.watermark)],
    ["backlog", snapshot.backlog_in === "bytes" ? bytes(snapshot.backlog) : count(snapshot.backlog) + " " + snapshot.backlog_in],
    ["late rows", count(snapshot.late)],
    ["invalid rows", count(invalid)],
    ["epoch", count(snapshot.epoch)],
    ["restarts", count(restarts)],
  ]);
  const rates = moments.map((f, n) => {
    const last = moments[n - 1];
    return last && f.time > last.time ? Math.max(0, f.events - last.events) / (f.time - last.time) : null;
  });
  spark(rates, 600, 60, `events per second, at most ${rate(Math.max(...rates, 0))}`, $("rate"));
}

// Drawings come from the server; even so, only shapes and text get into the page.
const SHAPES = new Set(["svg", "title", "defs", "marker", "path", "rect", "circle", "text", "g"]);

function pictureOf(text) {
  const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  for (const node of [svg, ...svg.querySelectorAll("*")]) {
    if (!SHAPES.has(node.localName)) { node.remove(); continue; }
    for (const each of [...node.attributes]) if (/^(on|href|xlink|style)/i.test(each.name)) node.removeAttribute(each.name);
  }
  return document.importNode(svg, true);
}

async function askPictures(mark) {
  if (mark === drawn) return;
  pictures = await (await fetch("drawings", { signal: AbortSignal.timeout(PATIENCE) })).json();
  drawn = mark;
  choices($("picture"), Object.keys(pictures), null);
  choosePicture();
}

function choosePicture() {
  const text = pictures[$("picture").value];
  if (text) $("template").replaceChildren(pictureOf(text));
  else $("template").replaceChildren(make("p", "Not drawn: it has too many queries or transitions to be readable. Use hamlet explain instead.", "none"));
}

function light() {
  const svg = $("template").querySelector("svg");
  if (!svg) { $("lit").textContent = ""; return; }
  const mine = new Set(JSON.parse(svg.dataset.names || "[]"));
  const here = decidedLately().filter((each) => each.group.queries.some((name) => mine.has(name)));
  const said = [];
  for (const arrow of svg.querySelectorAll(".arrow")) arrow.classList.remove("lit", "apart");
  for (const { type, counts, all } of here) {
    const shared = all - counts.split;
    for (const arrow of svg.querySelectorAll(".arrow[data-into]"))
      if (all && arrow.dataset.into === type && Number(arrow.dataset.queries) > 1)
        arrow.classList.add(shared > 0 ? "lit" : "apart");
    if (all) said.push(`${type}: ${count(all)} bursts, ${percent(shared / all)} shared`);
  }
  $("lit").textContent = said.length
    ? "In the last seconds: " + said.join("; ") + ". Transitions into shared bursts are highlighted."
    : "No decisions in the last seconds.";
}

// ---- the decision log ----------------------------------------------------------------------

function choices(select, names, all) {
  const wanted = all === null ? names : [all, ...names];
  if (String([...select.options].map((o) => o.textContent)) === String(wanted)) return;
  const chosen = select.value;
  select.replaceChildren(...wanted.map((name, n) => {
    const option = make("option", name);
    option.value = all !== null && n === 0 ? "" : name;
    return option;
  }));
  if ([...select.options].some((o) => o.value === chosen)) select.value = chosen;
}

function takeLog(snapshot) {
  for (const each of snapshot.log) {
    const key = snapshot.began + " " + each.entry;
    if (!entries.has(key)) entries.set(key, { snapshot: each, node: null });
  }
  while (entries.size > DECISIONS) {
    const [key, oldest] = entries.entries().next().value;
    if (oldest.node) oldest.node.remove();
    entries.delete(key);
  }
}

function showLog() {
  const all = [...entries.values()].map((each) => each.snapshot);
  const names = (of) => [...new Set(all.map(of))].sort();
  choices($("f-group"), names((e) => e.group), "all");
  choices($("f-type"), names((e) => e.type), "all");
  choices($("f-kind"), KINDS, "all");
  const [group, type, kind] = ["f-group", "f-type", "f-kind"].map((id) => $(id).value);
  const list = $("log");
  let shown = 0, after = list.firstChild;
  for (const each of [...entries.values()].reverse()) {
    const fits = (!group || each.snapshot.group === group) && (!type || each.snapshot.type === type) && (!kind || each.snapshot.kind === kind);
    if (!fits) { if (each.node) each.node.hidden = true; }
    else { each.node = each.node || entry(each.snapshot); each.node.hidden = false; shown += 1; }
    if (!each.node) continue;
    if (each.node === after) after = after.nextSibling;
    else list.insertBefore(each.node, after);
  }
  $("no-log").hidden = all.length > 0;
  $("shown").textContent = all.length ? `${shown} of ${all.length}` : "";
}

function entry(each) {
  const item = document.createElement("li"), button = make("button");
  button.type = "button";
  button.setAttribute("aria-expanded", "false");
  button.append(
    make("span", clock(each.time), "quiet"), make("span", each.kind, "kind " + each.kind),
    make("span", `${count(each.events)} ${each.type}`),
    make("span", `by ${each.queries} queries of ${each.group}`, "quiet"),
    make("span", each.benefit > 0 ? `saves ${nanoseconds(each.benefit)}` : each.benefit < 0 ? `would cost ${nanoseconds(-each.benefit)} more` : "", "quiet"));
  button.onclick = () => {
    const open = item.querySelector(".why");
    if (open) open.remove(); else item.append(why(each));
    button.setAttribute("aria-expanded", String(!open));
  };
  item.append(button);
  return item;
}

function why(each) {
  const box = make("div", null, "why");
  for (const line of each.why.sentences) box.append(make("p", line));
  if (each.why.terms.length) {
    const grid = make("table"), head = grid.createTHead().insertRow(), body = grid.createTBody();
    grid.createCaption().textContent = `Predicted cost, by policy ${each.policy}`;
    ["operation", "each", "splitting", "sharing"].forEach((name, n) => head.append(make("th", name, n ? "number" : "")));
    const line = (...cells) => {
      const row = body.insertRow();
      cells.forEach((cell, n) => row.append(make("td", cell, n ? "number" : "")));
    };
    for (const term of each.why.terms)
      line(term.what, term.each.toFixed(2) + " ns", nanoseconds(term.split), nanoseconds(term.shared));
    line("total", "", nanoseconds(each.why.split), nanoseconds(each.why.shared));
    box.append(grid);
  }
  box.append(make("p", `Burst ${count(each.number)} of its type, epoch ${count(each.epoch)}, aggregator ${each.actor}.`, "quiet"));
  return box;
}

// ---- tables of the page --------------------------------------------------------------------

function showQueries(snapshot) {
  const asked = $("f-query").value.toLowerCase();
  const found = Object.entries(snapshot.queries).filter(([name]) => name.toLowerCase().includes(asked));
  const value = ([name, each]) => sorting[0] === "name" ? name : sorting[0] in each ? each[sorting[0]] : each.latency[sorting[0]] ?? -1;
  found.sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0) * (sorting[1] ? -1 : 1));
  const curve = (name) => moments.map((f, n) => {
    const now = f.queries[name], last = n ? moments[n - 1].queries[name] : null;
    if (!now || !last || now.latency.count <= last.latency.count) return null;
    return (now.latency.sum - last.latency.sum) / (now.latency.count - last.latency.count);
  });
  table("queries", [
    { name: "query", text: true, sort: "name" }, { name: "results", sort: "results" },
    { name: "windows", sort: "windows" }, { name: "p50", sort: "p50" }, { name: "p95", sort: "p95" },
    { name: "p99", sort: "p99" }, { name: "mean latency over time", text: true },
  ], found.slice(0, 200).map(([name, each]) => {
    const values = curve(name);
    const most = Math.max(...values.filter((v) => v !== null), 0);
    return [name, [name, count(each.results), count(each.windows), seconds(each.latency.p50),
      seconds(each.latency.p95), seconds(each.latency.p99),
      spark(values, 110, 22, most ? `mean latency, at most ${seconds(most)}` : "no window closed recently")]];
  }), "No queries.");
}

function showSharing(snapshot) {
  const rows = snapshot.groups.flatMap((group) => group.types.map((type) => {
    const mean = (timed) => timed.bursts ? nanoseconds(timed.nanoseconds / timed.bursts) : "–";
    return [JSON.stringify([group.name, group.over, type.type]), [group.name, type.type, ...KINDS.map((kind) => count(type[kind])),
      nanoseconds(type.benefit), mean(type.time_shared), mean(type.time_split)]];
  }));
  table("groups", [
    { name: "share group", text: true }, { name: "type", text: true }, ...KINDS.map((name) => ({ name })),
    { name: "predicted benefit" }, { name: "mean shared" }, { name: "mean split" },
  ], rows, "Nothing is shared: no queries have a common part.");
}

function showModel(snapshot) {
  const model = snapshot.model;
  tiles("model", [
    ["planner", model.planner || "given"], ["plan version", count(model.plan)],
    ["policy version", count(model.policy)],
    ["correlation", model.correlation === null ? "–" : model.correlation.toFixed(2), "of predicted and measured burst times"],
    ["error", percent(model.error), "median relative error of the predictions"],
    ["predicted", nanoseconds(model.predicted), "total of the timed bursts"],
    ["measured", nanoseconds(model.measured), "total of the timed bursts"],
    ["timed bursts", count(model.timed)],
  ]);
  table("replans", [
    { name: "at", text: true }, { name: "why", text: true }, { name: "planner", text: true },
    { name: "before" }, { name: "after" }, { name: "outcome", text: true },
  ], [...model.last_replans].reverse().map((each) => [String(each.time), [clock(each.time), each.reason, each.planner,
    nanoseconds(each.before) + " per event", nanoseconds(each.after) + " per event", each.migrated ? "new plan" : "plan kept"]]),
  "None yet: neither the stream nor the workload has changed much.");
}

function showRuntime(snapshot) {
  table("stages", [
    { name: "stage", text: true }, { name: "mean" }, { name: "p50" }, { name: "p95" }, { name: "total" },
  ], Object.entries(snapshot.stages).map(([name, each]) => [name, [name, seconds(each.mean), seconds(each.p50), seconds(each.p95), seconds(each.sum)]]), "No epoch yet.");
  table("actors", [
    { name: "aggregator", text: true }, { name: "events" }, { name: "compute time" }, { name: "state" },
    { name: "partitions" }, { name: "graphlets" }, { name: "open windows" }, { name: "buffered events" },
  ], Object.entries(snapshot.actors).map(([name, each]) => [name, [name, count(each.events), seconds(each.compute_seconds),
    bytes(each.state_bytes), count(each.partitions), count(each.graphlets), count(each.open_windows), count(each.waiting)]]), "No aggregator has reported yet.");
  const rows = Object.entries(snapshot.invalid_rows).map(([reason, number]) => ["invalid " + reason, [reason, count(number)]]);
  if (snapshot.late) rows.unshift(["late", ["late: behind the watermark", count(snapshot.late)]]);
  table("rows", [{ name: "reason", text: true }, { name: "rows" }], rows, "None.");
}

// ---- polling ------------------------------------------------------------------------------

function show() {
  const snapshot = moments[moments.length - 1];
  if (!snapshot) return;
  showNow(snapshot);
  showLog();
  showQueries(snapshot);
  showSharing(snapshot);
  showModel(snapshot);
  showRuntime(snapshot);
  light();
}

async function ask() {
  try {
    const answer = await fetch("metrics.json", { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
    if (!answer.ok) throw new Error(answer.status);
    const snapshot = await answer.json();
    if (snapshot === null) showState("waiting", "the job is starting");
    else {
      if (moments.length && moments[0].began !== snapshot.began) { moments.length = 0; }
      const last = moments[moments.length - 1];
      if (!last || last.time !== snapshot.time || last.epochs !== snapshot.epochs) moments.push(snapshot);
      if (moments.length > KEPT) moments.shift();
      takeLog(snapshot);
      snapshot.log = [];  // the page keeps its own
      await askPictures(snapshot.drawings);
      showProgress(snapshot);
      show();
    }
  } catch (error) {
    const last = moments[moments.length - 1];
    showState("gone", last && last.finished ? "no answer: the job has finished"
      : "no answer: the job may have ended; retrying");
  }
  setTimeout(ask, EVERY);
}

$("picture").onchange = () => { choosePicture(); light(); };
for (const id of ["f-group", "f-type", "f-kind"]) $(id).onchange = showLog;
$("f-query").oninput = () => { if (moments.length) showQueries(moments[moments.length - 1]); };
ask();
