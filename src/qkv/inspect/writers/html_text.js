// The text as tokens. A chosen token shades the others: by how much it attends to each, or each attends to it.

const text = {
  element: document.getElementById("text"),
  most: document.getElementById("most"),
  spans: [],
};

// Only in a causal table does a token attend to others.
const words = description.causal
  ? { attendsMostTo: " attends most to: ", getsMostFrom: " gets most from: ", asks: "asks" }
  : { attendsMostTo: " has the largest numbers with: ", getsMostFrom: " has the largest numbers with: ", asks: "and" };

function appendParts(element, parts) {
  for (const part of parts) {
    if (!part.isEscape) {
      element.append(part.text);
      continue;
    }
    const escape = document.createElement("span");
    escape.className = "escape";
    escape.textContent = part.text;
    element.append(escape);
  }
}

function makeToken(index, choose) {
  const span = document.createElement("span");
  span.className = "token";
  span.tabIndex = -1;
  span.dataset.position = index;
  span.setAttribute("role", "option");
  appendParts(span, tokenParts(description.tokens[index].text));
  if (span.textContent === "") span.textContent = "\u2205";
  span.addEventListener("click", () => choose(index));
  return span;
}

function buildText(choose) {
  document.getElementById("text-section").hidden = !table.hasText;
  if (!table.hasText) return;
  description.tokens.forEach((token, index) => {
    text.spans.push(makeToken(index, choose));
    text.element.append(text.spans[index]);
    if (token.text.endsWith("\n")) text.element.append(document.createElement("br"));
  });
}

// The number that another token gets when `chosen` asks, or is asked.
function numberBetween(numbers, chosen, other, isAsking) {
  return isAsking ? numberAt(numbers, chosen, other) : numberAt(numbers, other, chosen);
}

function shadeText(panel, scale, chosen, isAsking) {
  const alert = parseHexColour(cssColour("--alert"));
  text.spans.forEach((span, index) => {
    const number = numberBetween(panel.numbers, chosen, index, isAsking);
    const colour = number === undefined ? null : colourOf(scale, number, alert);
    span.style.background = colour ? toCss(colour) : "";
    span.style.color = colour ? inkOn(colour) : "";
    span.classList.toggle("unseen-by", number === undefined);
    span.setAttribute("aria-selected", String(index === chosen));
    span.setAttribute(
      "aria-label",
      `${tokenLabels[index]}${number === undefined ? "" : `, ${formatNumber(number, panel.head)}`}`,
    );
    span.tabIndex = index === chosen ? 0 : -1;
  });
  listMost(panel, chosen, isAsking);
}

// A token set apart from the sentence it stands in, with its position.
function wordWithPosition(index) {
  const word = document.createElement("span");
  word.className = "word";
  const token = document.createElement("bdi");
  token.textContent = labelOfToken(index);
  const position = document.createElement("span");
  position.className = "at";
  position.textContent = index;
  word.append(token, position);
  return word;
}

function listMost(panel, chosen, isAsking) {
  const others = text.spans
    .map((_, index) => ({ index, number: numberBetween(panel.numbers, chosen, index, isAsking) }))
    .filter(({ number }) => number !== undefined)
    .sort((one, other) => other.number - one.number)
    .slice(0, 5);
  text.most.replaceChildren(wordWithPosition(chosen), isAsking ? words.attendsMostTo : words.getsMostFrom);
  others.forEach(({ index, number }, rank) => {
    text.most.append(rank === 0 ? "" : " \u00b7 ", wordWithPosition(index), ` ${Number(number.toPrecision(3))}`);
  });
}

function focusToken(index) {
  text.spans[index]?.focus({ preventScroll: true });
  bringTokenIntoView(index);
}

// Scrolls the text, never the page.
function bringTokenIntoView(index) {
  const span = text.spans[index];
  if (!span) return;
  const top = span.offsetTop - text.element.offsetTop;
  const { scrollTop, clientHeight } = text.element;
  if (top < scrollTop + 4) text.element.scrollTop = top - 8;
  else if (top + span.offsetHeight > scrollTop + clientHeight - 4)
    text.element.scrollTop = top + span.offsetHeight - clientHeight + 8;
}
