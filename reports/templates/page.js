(() => {
  "use strict";
  const root = document.documentElement;
  const page = JSON.parse(document.getElementById("drawings").textContent);

  // Names from data become text nodes: nothing that a host is called is ever HTML.
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);

  const row = (name, value) => {
    const line = document.createElement("div");
    const key = document.createElement("span");
    key.textContent = name;
    const text = document.createElement("b");
    text.textContent = String(value);
    line.append(key, text);
    return line;
  };

  const place = (event) => {
    const box = tip.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, innerWidth - box.width - 8);
    const below = event.clientY + 16;
    const top = below + box.height > innerHeight ? event.clientY - box.height - 12 : below;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${Math.max(8, top)}px`;
  };

  const tooltip = (_handler, event, _item, value) => {
    tip.hidden = value === null || value === undefined || value === "";
    if (tip.hidden) return;
    const all = typeof value === "object" ? Object.entries(value) : [["", value]];
    const lines = all.filter(([, text]) => text !== "" && text !== null);
    tip.replaceChildren(...lines.map(([name, text]) => row(name, text)));
    place(event);
  };

  const options = {
    mode: "vega-lite",
    renderer: "svg",
    actions: false,
    ast: true,
    defaultStyle: false,
    config: page.config,
    formatLocale: page.locale,
    tooltip,
  };

  // A phone has room for a hundred pixels of label beside a bar, not more.
  if (innerWidth < 480) {
    page.config.text.fontSize = 11;
    page.config.axis.labelFontSize = 11;
    page.config.axisY.labelLimit = 112;
  }

  const draw = async (holder) => {
    const figure = holder.closest("figure");
    figure.classList.add("is-live");
    const spec = {
      ...page.specs[holder.dataset.chart],
      autosize: { type: "fit-x", contains: "padding" },
    };
    try {
      await vegaEmbed(holder, spec, options);
    } catch (error) {
      figure.classList.remove("is-live");
      console.error(`${holder.dataset.chart}: ${error}`);
    }
  };

  const contents = document.getElementById("contents");
  if (matchMedia("(max-width: 1080px)").matches) contents.open = false;
  root.classList.add("has-script");
  Promise.all([...document.querySelectorAll(".live")].map(draw)).then(() => {
    root.classList.add("is-drawn");
  });
})();
