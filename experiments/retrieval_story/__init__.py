"""The experiment `retrieval_story`."""
