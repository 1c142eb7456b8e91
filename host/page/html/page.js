// Draws the value in #data. Names, reasons and paths from files and drivers are text here, never markup.
"use strict";
(() => {
  const page = JSON.parse(document.getElementById("data").textContent);
  const make = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children);
    return element;
  };
  const csvCell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  const save = (name, columns, rows) => {
    const text = [columns, ...rows].map((row) => row.map(csvCell).join(",") + "\n").join("");
    const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: name + ".csv" });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const fileName = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  const cellText = (value) => (value === null || value === undefined ? "" : typeof value === "number" ? String(+value.toPrecision(6)) : String(value));
  const rowOf = (row) => make("tr", {}, ...row.map((value) => {
    const text = cellText(value);
    const verdict = /^(holds|fails)\b/.exec(text);
    const cell = make("td", {}, text);
    if (verdict) cell.className = verdict[1];
    else if (typeof value === "number" || /^[-±]?[\d.]+( ?[a-zA-Z/%]{1,6})?$/.test(text)) cell.className = "number";
    else if (text.length > 40) cell.className = "long";
    return cell;
  }));
  // Shows the first rows; all of them on request.
  const mostRows = 200;
  const fill = (body, rows, all = false) => {
    const shown = all ? rows : rows.slice(0, mostRows);
    body.replaceChildren(...shown.map(rowOf));
    if (shown.length === rows.length) return;
    const more = make("button", { type: "button" }, `All ${rows.length} rows`);
    more.addEventListener("click", () => fill(body, rows, true));
    body.append(make("tr", {}, make("td", { colspan: String(rows[0].length), class: "more" }, `The first ${shown.length} rows; the CSV has all. `, more)));
  };
  const gridOf = (columns, caption) => {
    const body = make("tbody");
    const grid = make("table", {}, make("caption", { class: "unseen" }, caption), make("thead", {}, make("tr", {}, ...columns.map((name) => make("th", { scope: "col" }, name || "\u00a0")))), body);
    return { body, scroll: make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, grid) };
  };

  // ---- Charts
  const charts = [];
  const ink = "var(--ink)", dim = "var(--dim)", line = "var(--line)";
  const config = {
    // Screen readers are told of points and cells only: lines and labels would repeat them.
    line: { aria: false }, background: "transparent", font: 'system-ui, "DejaVu Sans", sans-serif',
    view: { stroke: null }, text: { color: ink, fontSize: 11, aria: false }, rule: { color: ink, aria: false },
    axis: { labelColor: dim, titleColor: dim, gridColor: line, domainColor: dim, tickColor: dim, labelFontSize: 11, titleFontSize: 11, titleFontWeight: "normal" },
    legend: { labelColor: ink, titleColor: dim, labelFontSize: 11, titleFontSize: 11, titleFontWeight: "normal" },
  };
  // Returns what an axis means; of a list of its values ("even: ..; odd: ..") only those that are met.
  const meaningOf = (meaning, met) => meaning.split(/; */).filter((clause) => {
    const values = /^([\w.]+(?:, [\w.]+)*): /.exec(clause);
    return !values || values[1].split(", ").some((value) => met.has(value));
  });
  const objects = (rows, names) => (rows || []).map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]])));
  const longest = (texts) => Math.max(0, ...texts.map((text) => String(text ?? "").length));

  class Chart {
    constructor(part) {
      this.part = part;
      this.fields = part.columns.map((column) => column[0]);
      this.heading = make("h3");
      this.note = make("p", { class: "note" });
      this.drawing = make("div", { class: "drawing" });
      this.tools = make("div", { class: "tools" });
      this.at = make("select", { "aria-label": "Values of the other axes, " + part.name });
      this.at.addEventListener("change", () => {
        this.show(Number(this.at.value));
        this.measure();
        this.draw();
      });
      this.tableButton = make("button", { type: "button", "aria-expanded": "false" }, "Table");
      this.tableButton.addEventListener("click", () => this.toggle());
      const csv = make("button", { type: "button" }, "CSV");
      csv.addEventListener("click", () => save(fileName(part.name + " " + this.panel.at), this.shown().map((i) => part.columns[i][1]), this.tableRows()));
      this.tools.append(this.at, this.tableButton, csv);
      this.names = make("details", { class: "names" }, make("summary", {}, "Axes and values explained"), make("dl"));
      this.names.fill = () => this.explain();
      this.names.addEventListener("toggle", this.names.fill);
      this.names.hidden = !page.axes[part.family];
      const wide = part.wide || Math.max(...part.panels.map((panel) => panel.rows.length)) > 60;
      this.figure = make("figure", { class: wide ? "wide" : null, "data-chart": part.name },
        make("figcaption", {}, this.heading, make("span", { class: "name" }, part.name)), this.drawing, this.note, this.names, this.tools);
      this.dirty = true;
      this.choose(page.most);
    }
    // Returns the columns for people: the named ones.
    shown() {
      return this.part.columns.map((column, i) => i).filter((i) => this.part.columns[i][1] !== "");
    }
    tableRows() {
      const columns = this.shown();
      return [...this.panel.rows.map((row) => columns.map((i) => row[i])),
        ...(this.panel.references || []).map((row) => columns.map((i) => row[i] ?? ""))];
    }
    // Shows the panels of a device, or those of all devices.
    choose(device) {
      const panels = this.part.panels;
      let mine = panels.map((panel, i) => i).filter((i) => panels[i].device === device);
      if (mine.length === 0) mine = panels.map((panel, i) => i).filter((i) => panels[i].device === null);
      this.figure.hidden = mine.length === 0;
      if (mine.length === 0) return;
      this.at.replaceChildren(...mine.map((i) => make("option", { value: i }, panels[i].at || "all")));
      this.at.hidden = mine.length < 2;
      this.show(mine[0]);
    }
    show(index) {
      this.panel = this.part.panels[index];
      this.heading.textContent = this.panel.title;
      const where = [];
      if (this.panel.device !== null && page.devices.length > 1) where.push(page.devices[this.panel.device]);
      if (this.panel.at) where.push(this.panel.at);
      this.note.textContent = [where.join(", "), this.panel.note].filter((text) => text).join(". ");
      this.drawing.setAttribute("role", "group");
      this.drawing.setAttribute("aria-label", "Chart: " + this.panel.title);
      this.dirty = true;
      if (this.table) fill(this.table.body, this.tableRows());
      if (this.names.open) this.explain();
    }
    toggle() {
      if (!this.table) {
        this.table = gridOf(this.shown().map((i) => this.part.columns[i][1]), this.panel.title);
        this.table.scroll.hidden = true;
        this.figure.append(this.table.scroll);
        fill(this.table.body, this.tableRows());
      }
      const open = this.table.scroll.hidden;
      this.table.scroll.hidden = !open;
      this.tableButton.setAttribute("aria-expanded", String(open));
    }
    // Explains each axis that is on the chart, in its setting or in the launch configuration of its points.
    explain() {
      const { part, panel } = this;
      const named = [part.columns.slice(0, 2).map((column) => column[1]).join(" "), panel.at, part.where, ...panel.rows.slice(0, 50).map((row) => row[6])].join(" ");
      const met = new Set([...panel.rows.flatMap((row) => [row[0], row[1], row[6]]), panel.at, part.where].join(" ").split(/[ =,]/));
      this.names.querySelector("dl").replaceChildren(...page.axes[part.family].filter(([name]) => new RegExp(`\\b${name}\\b`).test(named))
        .map(([name, meaning]) => make("div", {}, make("dt", {}, name), make("dd", {}, ...meaningOf(meaning, met).map((clause) => make("p", {}, clause))))));
    }
    // Cuts the order of an ordinal channel to the values of the panel. Returns their number.
    static cut(encoding, rows) {
      const met = new Set(rows.map((row) => row[encoding.field]));
      if (Array.isArray(encoding.sort)) encoding.sort = encoding.sort.filter((name) => met.has(name));
      return met.size;
    }
    // Returns the specification with the data of the panel, drops the layers that would draw nothing or that
    // hundreds of points would hide, and divides the width between the names on the left, the plot, and the labels
    // on the right.
    spec() {
      const { part, panel } = this;
      const spec = structuredClone(part.spec);
      const rows = objects(panel.rows, this.fields);
      const data = {
        rows, marks: objects(panel.marks, part.marks), fits: objects(panel.fits, ["series", "x", "y"]),
        labels: objects(panel.labels, ["series", "x", "y", "place"]), references: objects(panel.references, ["series", "x", "y"]),
      };
      const many = rows.length > 400;
      const exact = many || rows.every((row) => row.low === row.high);
      if (many) for (const layer of spec.layer) layer.mark.aria = false;
      spec.layer = spec.layer.filter(({ data: named, encoding }) => (named ? data[named.name].length > 0 : !(exact && (encoding.x2 || encoding.y2))));
      const all = this.width || 600;
      let left = 55, right = 10, room = 100;
      if (["heat", "bars", "stack"].includes(part.shape)) left = Math.min(0.45 * all, 20 + 6.3 * longest(rows.map((row) => row.series)));
      if (spec.layer.some((layer) => layer.mark.type === "text" && layer.mark.limit)) {
        right = Math.min(0.33 * all, 20 + 6.6 * longest(data.labels.length ? data.labels.map((label) => label.series) : rows.map((row) => row.label)));
        room = right - 12;
      } else if (part.shape === "launches" && data.labels.length) right = 20;
      if (part.shape === "heat" || part.shape === "bars") {
        let height = 0, columns = 1;
        for (const { data: named, encoding } of spec.layer) {
          if (named) continue;
          if (encoding.y) height = Math.max(height, Chart.cut(encoding.y, rows));
          if (encoding.x.field === "column") columns = Math.max(columns, Chart.cut(encoding.x, rows));
        }
        spec.height = Math.max(2, height) * (part.shape === "heat" ? (height > 16 ? 12 : 24) : 22);
        if (part.shape === "heat") room = (all - left - right) / columns;
        const met = new Set(rows.map((row) => row.column));
        data.marks = data.marks.filter((mark) => met.has(mark.column));
      }
      if (part.shape === "roofline") room = all > 700 ? 100 : 0;
      spec.width = Math.max(80, Math.floor(all - left - right - 12));
      spec.params[0].value = room;
      spec.datasets = data;
      return spec;
    }
    // Measures all charts before any is drawn: measuring between two would lay out the page anew each time.
    measure() {
      if (this.dirty) this.width = this.drawing.clientWidth;
    }
    async draw() {
      if (!this.dirty) return;
      this.dirty = false;
      try {
        this.view?.finalize();
        const result = await vegaEmbed(this.drawing, this.spec(), {
          ast: true, actions: false, logLevel: 1, renderer: "svg", config, defaultStyle: false,
          tooltip: { disableDefaultStyle: true }, loader: { http: { credentials: "omit" } },
        });
        this.view = result.view;
        // Hide groups of marks without a name from screen readers.
        for (const group of this.drawing.querySelectorAll('[role="graphics-symbol"]:not([aria-label])')) {
          group.removeAttribute("role");
          group.removeAttribute("aria-roledescription");
        }
        this.drawing.dataset.drawn = "yes";
      } catch (error) {
        this.drawing.textContent = "This chart could not be drawn: " + error.message;
        console.error(this.part.name, error);
      }
    }
  }

  // ---- Parts of a section
  const list = (lines) => (lines.length === 0 ? [] : [make("ul", {}, ...lines.map(([text, failure]) => make("li", { class: failure ? "failure" : "anomaly", title: text }, text.length > 140 ? text.slice(0, 140) + "…" : text)))]);
  // Keeps a number on one line with its unit.
  const unbroken = (text) => text.replace(/(\d) (?=[%GMkunsx])/g, "$1\u00a0").replaceAll(" = ", "\u00a0=\u00a0");
  // Returns a link to a section that selects the device, and the filters of the tables there.
  const tables = {};
  const leadTo = (text, section, index, filters) => {
    const link = make("a", { href: "#" + section }, text);
    link.addEventListener("click", () => {
      choose(index);
      for (const table of tables[section] || []) if (filters) table.choose(filters);
    });
    return link;
  };
  const devicesOf = (part) => make("div", { class: "devices" }, ...part.devices.map((device) => {
    const facts = device.facts.map(([words, value, why, section, filters]) => make("div", { title: why }, make("dt", {}, words), make("dd", {}, section ? leadTo(unbroken(value), section, device.device, filters) : value)));
    const failures = device.anomalies.filter(([, failure]) => failure), others = device.anomalies.filter(([, failure]) => !failure);
    return make("article", { class: "device" }, make("h3", {}, device.name), make("p", { class: "dim" }, device.about), make("dl", {}, ...facts), ...list(failures),
      ...(others.length > 0 ? [make("details", {}, make("summary", {}, "Anomalies"), ...list(others))] : []));
  }));

  const tableOf = (part) => {
    const { body, scroll } = gridOf(part.columns, part.title);
    const count = make("span", { class: "dim", role: "status" });
    const filters = [];
    let shown = part.rows;
    const apply = () => {
      shown = part.rows.filter((row) => filters.every((passes) => passes(row)));
      fill(body, shown);
      count.textContent = shown.length === part.rows.length ? `${shown.length} rows` : `${shown.length} of ${part.rows.length} rows`;
    };
    const tools = make("div", { class: "tools" });
    // A table of verdicts has a column per device: its two filters select a verdict on one device, or on any.
    const verdictColumns = part.verdict_columns || [];
    const chosen = {};
    const wanted = (name) => chosen[name]?.value ?? "";
    for (const name of part.filters || []) {
      const column = part.columns.indexOf(name);
      const words = column >= 0 ? [...new Set(part.rows.map((row) => row[column]))].filter((word) => word !== "")
        : name === "device" ? verdictColumns : part.verdicts;
      if (words.length < 2) continue;
      const select = make("select", {}, make("option", { value: "" }, "all"), ...words.map((word) => make("option", { value: word }, word)));
      chosen[name] = select;
      if (column >= 0) filters.push((row) => select.value === "" || String(row[column]) === select.value);
      else if (name === "verdict") filters.push((row) => select.value === "" || verdictColumns.some((label) => (wanted("device") || label) === label && String(row[part.columns.indexOf(label)]).startsWith(select.value)));
      select.addEventListener("change", apply);
      tools.append(make("label", {}, name + " ", select));
    }
    const choose = (filters) => {
      for (const [name, select] of Object.entries(chosen)) select.value = filters[name] ?? "";
      apply();
    };
    const csv = make("button", { type: "button" }, "CSV");
    csv.addEventListener("click", () => save(fileName(part.title), part.columns, shown));
    tools.append(csv, count);
    if (part.folded) {
      const details = make("details", { class: "wide" }, make("summary", {}, part.title), tools, scroll);
      details.fill = () => {  // on demand: hundreds of rows that few people open
        if (body.rows.length === 0) apply();
      };
      details.addEventListener("toggle", details.fill);
      return details;
    }
    apply();
    const element = make("div", { class: "wide" }, make("h3", {}, part.title), ...(part.note ? [make("p", { class: "note" }, part.note)] : []), tools, scroll);
    element.choose = choose;
    return element;
  };

  const content = document.getElementById("content"), contents = document.getElementById("contents");
  for (const section of page.sections) {
    contents.append(make("li", {}, make("a", { href: "#" + section.id, class: section.absent ? "dim" : null }, section.title)));
    const element = make("section", { id: section.id, "aria-labelledby": section.id + "-title" }, make("h2", { id: section.id + "-title" }, section.title));
    if (section.absent) {
      element.append(make("p", { class: "dim" }, section.good ? section.absent : "No data. To measure it: " + section.absent));
    } else {
      if (section.text) element.append(make("p", { class: "dim" }, section.text));
      element.append(make("p", { class: "dim lacking", role: "status" }));
      const grid = make("div", { class: "charts" });
      for (const part of section.parts) {
        if (part.kind === "chart") {
          const chart = new Chart(part);
          charts.push(chart);
          grid.append(chart.figure);
        } else {
          const table = part.kind === "devices" ? devicesOf(part) : tableOf(part);
          table.classList.add("wide");
          if (table.choose) (tables[section.id] ??= []).push(table);
          grid.append(table);
        }
      }
      element.append(grid);
    }
    content.append(element);
  }
  document.getElementById("about").textContent = `${page.rows} rows of ${page.files.length} file${page.files.length === 1 ? "" : "s"}, ${page.devices.length} device${page.devices.length === 1 ? "" : "s"}: ${page.devices.join("; ")}`;
  if (page.list) document.querySelector("header").prepend(make("p", {}, make("a", { href: page.list }, "All results")));
  document.getElementById("made").textContent = `Made by clweave ${page.version}: ${page.command}`;

  // ---- Device, theme, and drawing what comes into view
  const device = document.getElementById("device");
  device.append(...page.devices.map((name, i) => make("option", { value: i }, name)));
  if (page.devices.length < 2) document.getElementById("device-control").hidden = true;
  device.value = page.most;
  const lacking = () => {
    for (const element of document.querySelectorAll("main section")) {
      const hidden = element.querySelectorAll("figure[hidden]").length;
      const word = element.querySelector(".lacking");
      if (word) word.textContent = hidden ? `No rows of ${page.devices[device.value]} for ${hidden} chart${hidden === 1 ? "" : "s"} of this section.` : "";
    }
  };
  lacking();
  const theme = document.getElementById("theme");
  const setTheme = (dark) => {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    theme.setAttribute("aria-pressed", String(dark));
  };
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
  theme.addEventListener("click", () => setTheme(document.documentElement.dataset.theme !== "dark"));

  const waiting = () => charts.filter((chart) => chart.dirty && !chart.figure.hidden);
  const drawAll = async () => {
    const all = waiting();
    for (const chart of all) chart.measure();
    for (const chart of all) await chart.draw();
  };
  // Draws what is in view at once, and the rest from the top while the browser is idle: a page that has been open
  // for a moment scrolls and prints without waiting.
  const watcher = new IntersectionObserver((entries) => {
    const seen = entries.filter((entry) => entry.isIntersecting).map((entry) => charts.find((one) => one.figure === entry.target));
    for (const chart of seen) chart.measure();
    for (const chart of seen) chart.draw();
  }, { rootMargin: "400px" });
  const idle = window.requestIdleCallback ?? ((work) => setTimeout(work, 50));
  let scheduled = false;
  const drawLater = () => {
    if (scheduled) return;
    scheduled = true;
    idle(async () => {
      scheduled = false;
      const all = waiting();
      for (const chart of all) chart.measure();
      await all[0]?.draw();
      if (all.length > 1) drawLater();
    });
  };
  const drawAnew = () => {
    for (const chart of charts) {  // the watcher reports anew what is in view
      watcher.unobserve(chart.figure);
      watcher.observe(chart.figure);
    }
    drawLater();
  };
  drawAnew();
  const choose = (index) => {
    device.value = index;
    for (const chart of charts) chart.choose(index);
    lacking();
    drawAnew();
  };
  device.addEventListener("change", () => choose(Number(device.value)));
  let width = innerWidth, timer = 0;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(timer);
    timer = setTimeout(() => {
      for (const chart of charts) chart.dirty = true;
      drawAnew();
    }, 150);
  });
  // Opens everything before printing.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("main details:not([open], .names)")];
    for (const details of closed) {
      details.fill?.();
      details.open = true;
    }
    drawAll();
  });
  addEventListener("afterprint", () => {
    for (const details of closed) details.open = false;
  });
  // Draws everything, for tests.
  document.addEventListener("clweave-draw-all", async () => {
    await drawAll();
    document.documentElement.dataset.drawn = "all";
  });
})();
