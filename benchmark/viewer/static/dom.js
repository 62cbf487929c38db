// Preact and its templates: whatever is put into `html` as a value is text, never markup.
const html = htm.bind(preact.h);
const { Component, render } = preact;
const { useEffect, useLayoutEffect, useRef, useState } = preactHooks;

const siteTitle = document.title;

// The heading of a view names the page, too, and is said by screen readers when it changes.
function Heading({ title }) {
  useLayoutEffect(() => {
    document.title = `${title} · ${siteTitle}`;
    const announced = document.getElementById("announced");
    if (announced) announced.textContent = title;
  }, [title]);
  return html`<h1 tabindex="-1">${title}</h1>`;
}

export { Component, Heading, html, render, useEffect, useLayoutEffect, useRef, useState };
