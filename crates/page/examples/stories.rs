//! Writes the built-in stories of the page as Lists, which the plugin reads, too.
//!
//! ```console
//! $ cargo run -p daemonset-page --example stories -- FOLDER
//! $ kubectl daemonset stuck -f FOLDER/stuck.json
//! ```

use daemonset_page::stories;
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    for story in stories() {
        let file = folder.join(format!("{}.json", story.name));
        std::fs::write(&file, story.dump())?;
        println!("{}: {}", file.display(), story.about);
    }
    Ok(())
}
