// The page of a report: draws the value in #data. Whatever a file or a driver said is text here, never markup.
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
  const fill = (body, rows) => {
    body.replaceChildren(...rows.map((row) => make("tr", {}, ...row.map((value) => {
      const text = cellText(value);
      const verdict = /^(holds|fails)\b/.exec(text);
      const cell = make("td", {}, text);
      if (verdict) cell.className = verdict[1];
      else if (typeof value === "number" || /^[-±]?[\d.]+( ?[a-zA-Z/%]{1,6})?$/.test(text)) cell.className = "number";
      else if (text.length > 40) cell.className = "long";
      return cell;
    }))));
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
    background: "transparent", font: 'system-ui, "DejaVu Sans", sans-serif',
    view: { stroke: null }, text: { color: ink, fontSize: 11 }, rule: { color: ink },
    axis: { labelColor: dim, titleColor: dim, gridColor: line, domainColor: dim, tickColor: dim, labelFontSize: 11, titleFontSize: 11, titleFontWeight: "normal" },
    legend: { labelColor: ink, titleColor: dim, labelFontSize: 11, titleFontSize: 11, titleFontWeight: "normal" },
  };
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
      this.at = make("select", { "aria-label": "Setting of " + part.name });
      this.at.addEventListener("change", () => this.show(Number(this.at.value)));
      this.tableButton = make("button", { type: "button", "aria-expanded": "false" }, "Table");
      this.tableButton.addEventListener("click", () => this.toggle());
      const csv = make("button", { type: "button" }, "CSV");
      csv.addEventListener("click", () => save(fileName(part.name + " " + this.panel.at), this.shown().map((i) => part.columns[i][1]), this.tableRows()));
      this.tools.append(this.at, this.tableButton, csv);
      const panels = part.panels;
      const wide = part.wide || Math.max(...panels.map((panel) => panel.rows.length)) > 60 || part.name.startsWith("roofline") || part.name.startsWith("change");
      this.figure = make("figure", { class: wide ? "wide" : null, "data-chart": part.name },
        make("figcaption", {}, this.heading, make("span", { class: "name" }, part.name)), this.drawing, this.note, this.tools);
      this.dirty = true;
      this.seen = false;
      this.choose(page.most);
    }
    // The columns that a person reads: named ones.
    shown() {
      return this.part.columns.map((column, i) => i).filter((i) => this.part.columns[i][1] !== "");
    }
    tableRows() {
      return this.panel.rows.map((row) => this.shown().map((i) => row[i]));
    }
    // Of a device, or the first there is.
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
      if (this.seen) this.draw();
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
    spec() {
      const { part, panel } = this;
      const spec = structuredClone(part.spec);
      const rows = objects(panel.rows, this.fields);
      const data = {
        rows, marks: objects(panel.marks, part.marks || ["x", "text"]), fits: objects(panel.fits, ["series", "x", "y"]),
        labels: objects(panel.labels, part.labels || ["series", "x", "y"]),
      };
      const all = this.drawing.clientWidth || 600;
      const first = (field) => new Set(rows.map((row) => row[field]));
      const axisText = "column" in (rows[0] || {}) || "kernel" in (rows[0] || {}) || "device" in (rows[0] || {});
      let left = 55, right = 10, room = 100;
      const names = spec.layer.some((layer) => layer.data && layer.data.name === "labels") && !("roof" in (rows[0] || {}));
      if (axisText && !("side" in (rows[0] || {}))) left = Math.min(0.45 * all, 20 + 6.3 * longest([...first("kernel" in rows[0] ? "kernel" : "device" in rows[0] && !("series" in rows[0]) ? "device" : "series")]));
      const lines = spec.layer.some((layer) => layer.mark.type === "text" && layer.mark.limit);
      if (lines) {
        right = Math.min(0.33 * all, 20 + 6.6 * longest(data.labels.length ? data.labels.map((label) => label.series) : rows.map((row) => row.label)));
        room = right - 12;
      } else if (names) right = 20;
      if (part.trim || part.spec.layer[0].mark.type === "rect") {
        // A panel has its own rows: the specification's order is cut to them.
        const cut = (encoding, field) => {
          if (!encoding) return 0;
          const met = first(field);
          if (Array.isArray(encoding.sort)) encoding.sort = encoding.sort.filter((name) => met.has(name));
          return met.size;
        };
        let height = 0, columns = 1;
        for (const layer of spec.layer) {
          if (layer.data && layer.data.name === "marks") continue;
          height = Math.max(height, cut(layer.encoding.y, "series"));
          if (layer.encoding.x && layer.encoding.x.field === "column") columns = Math.max(columns, cut(layer.encoding.x, "column"));
        }
        spec.height = Math.max(2, height) * (spec.layer[0].mark.type === "rect" ? 24 : 22);
        if (spec.layer[0].mark.type === "rect") room = (all - left - right) / columns;
        const there = first("column");
        data.marks = data.marks.filter((mark) => !("column" in mark) || there.has(mark.column));
      }
      spec.width = Math.max(80, Math.floor(all - left - right - 12));
      if ("roof" in (rows[0] || {})) room = all > 700 ? 100 : 0;
      spec.params[0].value = room;
      spec.datasets = data;
      return spec;
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
        // Groups of marks that have no name and say nothing.
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
  const list = (lines) => (lines.length === 0 ? [] : [make("ul", {}, ...lines.map(([text, failure]) => make("li", { class: failure ? "failure" : "odd", title: text }, text.length > 140 ? text.slice(0, 140) + "…" : text)))]);
  const cardsOf = (part) => make("div", { class: "cards" }, ...part.cards.map((card) => make("article", { class: "card" },
    make("h3", {}, card.name), make("p", { class: "dim" }, card.about),
    make("dl", {}, ...card.facts.map(([words, value, why]) => make("div", { title: why }, make("dt", {}, words), make("dd", {}, value)))),
    ...list(card.odd.filter(([, failure]) => failure)),
    ...(card.odd.some(([, failure]) => !failure) ? [make("details", {}, make("summary", {}, "What is odd"), ...list(card.odd.filter(([, failure]) => !failure)))] : []))));

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
    for (const name of part.filters || []) {
      const verdicts = (part.verdicts || []).map((label) => part.columns.indexOf(label));
      const column = part.columns.indexOf(name);
      const words = name === "verdict" && part.verdicts ? ["fails", "holds", "within noise", "undecided", "not measured", "not testable", "void"] : [...new Set(part.rows.map((row) => row[column]))].filter((word) => word !== "");
      if (words.length < 2) continue;
      const select = make("select", {}, make("option", { value: "" }, "all"), ...words.map((word) => make("option", { value: word }, word)));
      filters.push((row) => select.value === "" || (name === "verdict" && part.verdicts ? verdicts.some((i) => String(row[i]).startsWith(select.value)) : String(row[column]) === select.value));
      select.addEventListener("change", apply);
      tools.append(make("label", {}, name + " ", select));
    }
    const csv = make("button", { type: "button" }, "CSV");
    csv.addEventListener("click", () => save(fileName(part.title), part.columns, shown));
    tools.append(csv, count);
    apply();
    if (part.folded) return make("details", { class: "wide" }, make("summary", {}, part.title), tools, scroll);
    return make("div", { class: "wide" }, make("h3", {}, part.title), tools, scroll);
  };

  const content = document.getElementById("content"), contents = document.getElementById("contents");
  for (const section of page.sections) {
    contents.append(make("li", {}, make("a", { href: "#" + section.id }, section.title)));
    const element = make("section", { id: section.id, "aria-labelledby": section.id + "-title" }, make("h2", { id: section.id + "-title" }, section.title));
    if (section.absent) {
      element.append(make("p", { class: "dim" }, section.title === "Failures" ? section.absent : "No data for this. It would come from: " + section.absent));
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
          const table = part.kind === "cards" ? cardsOf(part) : tableOf(part);
          table.classList.add("wide");
          grid.append(table);
        }
      }
      element.append(grid);
    }
    content.append(element);
  }
  document.getElementById("about").textContent = `${page.rows} rows of ${page.files.length} file${page.files.length === 1 ? "" : "s"}, ${page.devices.length} device${page.devices.length === 1 ? "" : "s"}: ${page.devices.join("; ")}`;
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
      if (word) word.textContent = hidden ? `Of ${page.devices[device.value]} there are no rows for ${hidden} chart${hidden === 1 ? "" : "s"} of this section.` : "";
    }
  };
  lacking();
  device.addEventListener("change", () => {
    for (const chart of charts) chart.choose(Number(device.value));
    lacking();
  });
  const theme = document.getElementById("theme");
  const setTheme = (dark) => {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    theme.setAttribute("aria-pressed", String(dark));
  };
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
  theme.addEventListener("click", () => setTheme(document.documentElement.dataset.theme !== "dark"));

  const drawAll = async () => {
    for (const chart of charts) {
      chart.seen = true;
      if (!chart.figure.hidden) await chart.draw();
    }
  };
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const chart = charts.find((one) => one.figure === entry.target);
      chart.seen = entry.isIntersecting || chart.seen;
      if (entry.isIntersecting) chart.draw();
    }
  }, { rootMargin: "400px" });
  for (const chart of charts) watcher.observe(chart.figure);
  let width = innerWidth, timer = 0;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(timer);
    timer = setTimeout(() => {
      for (const chart of charts) {
        chart.dirty = true;
        const box = chart.figure.getBoundingClientRect();
        if (box.bottom > -400 && box.top < innerHeight + 400) chart.draw();
        else { watcher.unobserve(chart.figure); watcher.observe(chart.figure); }
      }
    }, 150);
  });
  addEventListener("beforeprint", drawAll);
  // For tests, and for who wants everything drawn.
  document.addEventListener("clweave-draw-all", async () => {
    await drawAll();
    document.documentElement.dataset.drawn = "all";
  });
})();
