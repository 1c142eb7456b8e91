// Filters the list of results, and shows chosen profiles of #data side by side. Names from files are text here, never markup.
"use strict";
(() => {
  const make = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const optionsOf = (words) => words.map(([value, text]) => make("option", { value }, text));

  const theme = document.getElementById("theme");
  const setTheme = (dark) => {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    theme.setAttribute("aria-pressed", String(dark));
  };
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
  theme.addEventListener("click", () => setTheme(document.documentElement.dataset.theme !== "dark"));
  theme.hidden = false;

  // ---- The list
  const filters = document.getElementById("filters");
  const rows = [...document.querySelectorAll("tr[data-date]")];
  if (filters && rows.length > 0) {
    const count = make("span", { class: "dim", role: "status" });
    const passes = [];
    const apply = () => {
      for (const row of rows) row.hidden = !passes.every((pass) => pass(row.dataset));
      const shown = rows.filter((row) => !row.hidden).length;
      count.textContent = shown === rows.length ? "" : `${shown} of ${rows.length} files`;
    };
    const add = (text, control, pass) => {
      passes.push(pass);
      control.addEventListener("input", apply);
      filters.append(make("label", {}, text + " ", control));
    };
    for (const name of ["vendor", "kind"]) {
      const words = [...new Set(rows.map((row) => row.dataset[name]))].sort();
      const select = make("select", {}, ...optionsOf([["*", "all"], ...words.map((word) => [word, word || "unknown"])]));
      add(name === "vendor" ? "Vendor" : "Kind", select, (data) => select.value === "*" || data[name] === select.value);
    }
    const since = make("input", { type: "date" });
    add("Measured since", since, (data) => since.value === "" || data.date >= since.value);
    filters.append(count);
    filters.hidden = false;
    apply();
  }

  // ---- Profiles
  const choice = document.getElementById("choice");
  const data = JSON.parse(document.getElementById("data").textContent);
  if (choice && data && data.devices.length > 0) {
    const most = 4;
    const place = document.getElementById("chosen");
    const ratioOf = (one, first) => (one?.value > 0 && first?.value > 0 ? +(one.value / first.value).toPrecision(3) + "x" : "");
    const cell = (text) => make("td", { class: "number" }, text);
    const head = (text) => make("th", { scope: "col" }, text);
    const selects = Array.from({ length: Math.min(most, data.devices.length) }, (_, i) => {
      const select = make("select", {}, ...optionsOf([...(i > 0 ? [["", "none"]] : []), ...data.devices.map((device) => [device.id, device.name])]));
      choice.append(make("label", {}, (i === 0 ? "First device" : "Device " + (i + 1)) + " ", select));
      return select;
    });
    const draw = () => {
      const chosen = selects.map((select) => data.devices.find((device) => device.id === select.value)).filter((device) => device);
      const first = chosen[0];
      const titles = chosen.flatMap((device, i) => {
        const link = make("th", { scope: "col" }, make("a", { href: device.id + ".html" }, device.name));
        return i > 0 ? [link, head("times the first")] : [link];
      });
      const body = make("tbody");
      for (const trait of data.traits) {
        if (!chosen.some((device) => device.traits[trait.name])) continue;
        const cells = chosen.flatMap((device, i) => {
          const value = device.traits[trait.name];
          const shown = cell(value ? value.text : "");
          if (value?.note || value?.undecided) shown.title = value.note || value.undecided;
          return i > 0 ? [shown, cell(ratioOf(value, first.traits[trait.name]))] : [shown];
        });
        body.append(make("tr", {}, make("th", { scope: "row" }, trait.meaning), ...cells));
      }
      place.replaceChildren(make("table", {}, make("caption", { class: "unseen" }, "The chosen profiles"), make("thead", {}, make("tr", {}, head("Behaviour"), ...titles)), body));
    };
    // The address has the ids, so that a comparison can be linked to.
    const read = () => {
      const ids = location.hash.slice(1).split(",").filter((id) => data.devices.some((device) => device.id === id));
      const known = (device) => Object.keys(device.traits).length;
      if (ids.length === 0) ids.push(data.devices.reduce((most, device) => (known(device) > known(most) ? device : most)).id);
      if (ids.length === 1) {
        const first = data.devices.find((device) => device.id === ids[0]);
        const other = data.devices.find((device) => device.device !== first.device && device.preset === first.preset) || data.devices.find((device) => device !== first);
        if (other) ids.push(other.id);
      }
      selects.forEach((select, i) => { select.value = ids[i] ?? ""; });
      draw();
    };
    for (const select of selects) {
      select.addEventListener("change", () => {
        history.replaceState(null, "", "#" + selects.map((one) => one.value).filter((id) => id).join(","));
        draw();
      });
    }
    addEventListener("hashchange", read);
    read();
    choice.hidden = place.hidden = false;
  }
})();
