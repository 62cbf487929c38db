// Preact and its templates: whatever is put into `html` as a value is text, never markup.
const html = htm.bind(preact.h);
const { Component, render } = preact;
const { useEffect, useLayoutEffect, useRef, useState } = preactHooks;

const siteTitle = document.title;

/**
 * The heading of a view names the page, too, and is said by screen readers when it changes.
 * @param {{ title: string }} props
 */
function Heading({ title }) {
  useLayoutEffect(() => {
    document.title = `${title} · ${siteTitle}`;
    const announced = document.getElementById("announced");
    if (announced) announced.textContent = title;
    return undefined;
  }, [title]);
  return html`<h1 tabindex="-1">${title}</h1>`;
}

/**
 * An element that the page is known to have.
 * @param {string} id
 */
const elementOf = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/**
 * What somebody typed or chose.
 * @param {Event} event
 */
const inputOf = (event) => /** @type {HTMLInputElement | HTMLSelectElement} */ (event.target).value;

/** @param {Event} event */
const isChecked = (event) => /** @type {HTMLInputElement} */ (event.target).checked;

export {
  Component,
  elementOf,
  Heading,
  html,
  inputOf,
  isChecked,
  render,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
};
