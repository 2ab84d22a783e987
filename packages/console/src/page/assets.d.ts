/** The build turns imported style sheets into one file of the page. */
declare module "*.css";
/** The build copies imported pictures, and gives their addresses. */
declare module "*.svg" {
  const address: string;
  export default address;
}
