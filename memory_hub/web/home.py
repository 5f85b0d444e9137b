urlpatterns: list = []
project_urlpatterns: list = []
